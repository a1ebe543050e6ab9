; Links what is needed of each library, as internal functions: the cubin exports nothing but kernels, and what is not needed is not
; compiled. The user's own functions keep their linkage.
;
; RUN: %opt -passes='adgen-link-libraries<%inputs/device.ll;%inputs/rules.ll>' -S %s | %filecheck %s
; RUN: %not %opt -passes='adgen-link-libraries<%inputs/missing.bc>' -S %s 2>&1 | %filecheck %s --check-prefix=MISSING

; MISSING: missing.bc: {{.*}}No such file

target triple = "nvptx64-nvidia-cuda"

; CHECK-NOT: @__nv_unused

; CHECK: define ptx_kernel void @kernel
define ptx_kernel void @kernel(ptr %x) {
  %v = load float, ptr %x
  %d = call float @__nv_twice(float %v)
  store float %d, ptr %x
  call void @adgen_rule_example(ptr %x)
  ret void
}

; CHECK: define void @own
define void @own() {
  ret void
}

declare float @__nv_twice(float)
declare void @adgen_rule_example(ptr)

; CHECK-DAG: define internal float @__nv_twice
; CHECK-DAG: define internal float @__nv_once
; CHECK-DAG: define internal void @adgen_rule_example
