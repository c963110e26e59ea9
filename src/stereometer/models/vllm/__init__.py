"""Models that vLLM runs on this machine: `vllm:FOLDER` or `vllm:ORG/NAME`."""
