; What cooperative groups call to wait for the whole grid becomes a barrier of a number of its own, and whether a launch
; has what they need for it is not asked.
;
; RUN: %opt -passes='adgen-select-kernels<k>' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %group) {
  %valid = call i1 @_ZNK18cooperative_groups4__v110grid_group8is_validEv(ptr %group)
  %workspace = load ptr, ptr %group
  call void @_ZN18cooperative_groups4__v17details4gridL4syncEPj(ptr %workspace)
  ret void
}

; CHECK-LABEL: define internal i1 @_ZNK18cooperative_groups4__v110grid_group8is_validEv(
; CHECK-NEXT:    ret i1 true
define linkonce_odr i1 @_ZNK18cooperative_groups4__v110grid_group8is_validEv(ptr %group) {
  %workspace = load ptr, ptr %group
  %valid = icmp ne ptr %workspace, null
  ret i1 %valid
}

; CHECK-LABEL: define internal void @_ZN18cooperative_groups4__v17details4gridL4syncEPj(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
; CHECK-NEXT:    ret void
define internal void @_ZN18cooperative_groups4__v17details4gridL4syncEPj(ptr %barrier) {
  %before = atomicrmw add ptr %barrier, i32 1 monotonic
  ret void
}
