; A loop that takes cotangents takes those of four iterations at once; what is left over has a loop of its own.
;
; RUN: %opt -passes=adgen-take-together,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @row__gradient(
; CHECK:       {{^}}loop:
; CHECK-COUNT-4: load float
; CHECK-NEXT:  [[HERE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:  call void @llvm.nvvm.bar.warp.sync(i32 [[HERE]])
; CHECK-NOT:   load
; CHECK:       atomicrmw fadd
; CHECK-NEXT:  store float 0.0
; CHECK-COUNT-3: atomicrmw fadd
; CHECK:       ret void
define ptx_kernel void @row__gradient(ptr noalias %shadow, ptr noalias %to, i32 %tid, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %short = trunc i64 %i to i32
  %first = shl i32 %short, 5
  %number = or disjoint i32 %first, %tid
  %index = zext i32 %number to i64
  %at = getelementptr float, ptr %shadow, i64 %index
  %taken = load float, ptr %at
  %more = fadd float %sum, %taken
  %there = getelementptr float, ptr %to, i64 %index
  %old = atomicrmw fadd ptr %there, float %taken monotonic
  store float 0.0, ptr %at
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  store float %more, ptr %to
  ret void
}

; Not where the array that is added to may be the same one, where every iteration takes the same element, where others
; wait for what it does, where the element is written before it is read, or where nothing is taken.
; CHECK-LABEL: define ptx_kernel void @one_array__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @one_array__gradient(ptr noalias %shadow, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %shadow, i64 %i
  %taken = load float, ptr %at
  %next = add nsw i64 %i, -1
  %there = getelementptr float, ptr %shadow, i64 %next
  %old = atomicrmw fadd ptr %there, float %taken monotonic
  store float 0.0, ptr %at
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @one_element__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @one_element__gradient(ptr noalias %shadow, ptr noalias %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %short = trunc i64 %i to i8
  %wrapped = shl i8 %short, 7
  %at = getelementptr float, ptr %shadow, i8 %wrapped
  %taken = load float, ptr %at
  %there = getelementptr float, ptr %to, i64 %i
  %old = atomicrmw fadd ptr %there, float %taken monotonic
  store float 0.0, ptr %at
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @handed_over__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @handed_over__gradient(ptr noalias %shadow, ptr noalias %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %shadow, i64 %i
  %taken = load float, ptr %at
  %there = getelementptr float, ptr %to, i64 %i
  %old = atomicrmw fadd ptr %there, float %taken acq_rel
  store float 0.0, ptr %at
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @written_first__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @written_first__gradient(ptr noalias %shadow, ptr noalias %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %shadow, i64 %i
  store float 1.0, ptr %at
  %taken = load float, ptr %at
  %there = getelementptr float, ptr %to, i64 %i
  %old = atomicrmw fadd ptr %there, float %taken monotonic
  store float 0.0, ptr %at
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @read__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @read__gradient(ptr noalias %from, ptr noalias %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %from, i64 %i
  %read = load float, ptr %at
  %there = getelementptr float, ptr %to, i64 %i
  %old = atomicrmw fadd ptr %there, float %read monotonic
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
