"""The audio encoder of a Gemma 4 as a streaming ONNX graph, made from the tensors of its GGUF."""
