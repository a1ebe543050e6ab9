; Keeps the kernels that are named (all, where none is) and has everything inlined that is called, but for recursion: Enzyme
; then meets one function an entry.
;
; RUN: %opt -passes='adgen-select<wanted>' -S %s | %filecheck %s --check-prefixes=CHECK,NAMED
; RUN: %opt -passes='adgen-select' -S %s | %filecheck %s --check-prefixes=CHECK,ALL

target triple = "nvptx64-nvidia-cuda"

; A list of all kernels, as clang makes it for __launch_bounds__, does not keep the others alive.
; NAMED: @list = {{.*}}[ptr @wanted, ptr poison]
; ALL: @list = {{.*}}[ptr @wanted, ptr @other]
@list = internal constant [2 x ptr] [ptr @wanted, ptr @other]

; CHECK: define ptx_kernel void @wanted
define ptx_kernel void @wanted(ptr %x) {
  call void @helper(ptr %x)
  call void @recursive(ptr %x, i32 3)
  ret void
}

; NAMED-NOT: @other
; ALL: define ptx_kernel void @other(ptr %x) {
define ptx_kernel void @other(ptr %x) {
  ret void
}

; CHECK: define internal void @helper(ptr %x) [[INLINED:#[0-9]+]]
define linkonce_odr void @helper(ptr %x) noinline optnone {
  store float 1.0, ptr %x
  ret void
}

; CHECK: define void @recursive(ptr %x, i32 %n) {
define void @recursive(ptr %x, i32 %n) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %again
again:
  %less = sub i32 %n, 1
  call void @recursive(ptr %x, i32 %less)
  br label %end
end:
  ret void
}

; A shuffle of double has a rule, so it is kept whole.
; CHECK: define {{.*}}double @_Z15__shfl_xor_syncjdii({{.*}}) [[WHOLE:#[0-9]+]] {
define linkonce_odr double @_Z15__shfl_xor_syncjdii(i32 %mask, double %v, i32 %offset, i32 %width) alwaysinline {
  ret double %v
}

; CHECK-DAG: attributes [[WHOLE]] = { noinline }
; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }
