; Shared memory behind a number that adgen-name-addresses could not follow is refused.
;
; RUN: %opt -passes=adgen-refuse-unsupported -disable-output %s 2>&1 | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: {{.*}}shared memory that is reached by a number of which adgen does not see the array
define void @adgen_body_stores(i32 %number, float %x) {
  %at = inttoptr i32 %number to ptr addrspace(3)
  store float %x, ptr addrspace(3) %at
  ret void
}

define ptx_kernel void @stores(i32 %number, float %x) {
  ret void
}
