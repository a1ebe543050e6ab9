; A device library: `twice` needs `once`, nothing needs `unused`.
target triple = "nvptx64-nvidia-gpulibs"

define float @__nv_once(float %x) {
  ret float %x
}

define float @__nv_twice(float %x) {
  %one = call float @__nv_once(float %x)
  %two = fadd float %one, %one
  ret float %two
}

define float @__nv_unused(float %x) {
  ret float %x
}
