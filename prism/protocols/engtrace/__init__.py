"""EngTrace: predictions of traces beside gold ones, step by step."""
