; A shared array: Enzyme zeroes its shadow by itself, and puts the same barrier behind that.
; fault: stops bad signature
; workaround: adgen-make-bodies
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [32 x float] undef
define void @f(ptr %x, ptr %y, i64 %i) {
  %v = load float, ptr %x
  %at = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %i
  store float %v, ptr %at
  %w = load float, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  store float %w, ptr %y
  ret void
}
declare void @__enzyme_autodiff(...)
define void @g(ptr %x, ptr %dx, ptr %y, ptr %dy, i64 %i) {
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy, i64 %i)
  ret void
}
