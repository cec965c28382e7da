"""The decoder of Kyutai's codec Mimi as a streaming ONNX graph, made from its published tensors."""
