"""Writes networks that are published in another format as ONNX files, without the onnx package."""
