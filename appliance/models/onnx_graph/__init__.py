"""ONNX files, written without the onnx package: of networks that come in another format."""
