# shellcheck shell=bash
# What builds the images and starts them without a container engine (`make images`): nothing else requires it.

IMAGE_PACKAGES=("buildah|buildah" "runc|runc" "debootstrap|debootstrap" "qemu-aarch64-static|qemu-user-static")

setup_images() {
  local missing=() entry command package
  for entry in "${IMAGE_PACKAGES[@]}"; do
    IFS='|' read -r command package <<<"$entry"
    PATH=$PATH:/usr/sbin:/sbin type -P "$command" >/dev/null || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    apt_install images "${missing[@]}"
  else
    say images "buildah, runc, debootstrap and QEMU are installed"
  fi
}
