; What a thread updates of several elements is loaded before the first of them is stored. Where they may be the same element, what was
; stored there counts. Loops do four iterations at once.
;
; RUN: %opt -passes=adgen-load-together,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @row__gradient(
; CHECK:       {{^}}entry:
; CHECK:       %second = load float, ptr %there
; CHECK-NEXT:  %first = load float
; CHECK-NEXT:  [[HERE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:  call void @llvm.nvvm.bar.warp.sync(i32 [[HERE]])
; CHECK-NEXT:  %more = fadd float %first, %x
; CHECK-NEXT:  store float %more, ptr %at
; CHECK-NEXT:  [[SAME:%.*]] = icmp eq ptr %at, %there
; CHECK-NEXT:  [[COUNTS:%.*]] = select i1 [[SAME]], float %more, float %second
; CHECK-NEXT:  %other = fadd float [[COUNTS]], %x
; CHECK-NEXT:  store float %other, ptr %there
define ptx_kernel void @row__gradient(ptr noalias %d, i64 %i, i64 %n, float %x) {
entry:
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, %x
  store float %more, ptr %at, align 4
  %next = add i64 %i, %n
  %there = getelementptr float, ptr %d, i64 %next
  %second = load float, ptr %there, align 4
  %other = fadd float %second, %x
  store float %other, ptr %there, align 4
  ret void
}

; Two arrays need no question, and what is read besides is loaded there, too.
; CHECK-LABEL: define ptx_kernel void @two_arrays__gradient(
; CHECK-COUNT-3: load float
; CHECK:       call void @llvm.nvvm.bar.warp.sync
; CHECK-NOT:   select
; CHECK:       ret void
define ptx_kernel void @two_arrays__gradient(ptr noalias %d, ptr noalias %e, ptr noalias %y, i64 %i) {
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, 1.0
  store float %more, ptr %at, align 4
  %of_y = getelementptr float, ptr %y, i64 %i
  %x = load float, ptr %of_y, align 4
  %there = getelementptr float, ptr %e, i64 %i
  %second = load float, ptr %there, align 4
  %other = fadd float %second, %x
  store float %other, ptr %there, align 4
  ret void
}

; CHECK-LABEL: define ptx_kernel void @loop__gradient(
; CHECK:       {{^}}loop:
; CHECK-COUNT-4: load float
; CHECK:       call void @llvm.nvvm.bar.warp.sync
; CHECK-NOT:   load
; CHECK-COUNT-4: store float
; CHECK:       br i1
define ptx_kernel void @loop__gradient(ptr noalias %d, i32 %tid, i64 %n, float %x) {
entry:
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %short = trunc i64 %i to i32
  %far = mul i32 %short, %width
  %number = add i32 %far, %tid
  %index = sext i32 %number to i64
  %at = getelementptr float, ptr %d, i64 %index
  %old = load float, ptr %at, align 4
  %more = fadd float %old, %x
  store float %more, ptr %at, align 4
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Not along a row of the thread's own.
; CHECK-LABEL: define ptx_kernel void @own_row__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @own_row__gradient(ptr noalias %d, i64 %n, float %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %d, i64 %i
  %old = load float, ptr %at, align 4
  %more = fadd float %old, %x
  store float %more, ptr %at, align 4
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Not where others wait in between, where the address of one is what was loaded of the other, where elements may overlap in part, or
; where all iterations update one element.
; CHECK-LABEL: define ptx_kernel void @waits__gradient(
; CHECK:       store float
; CHECK:       load float
define ptx_kernel void @waits__gradient(ptr noalias %d, i64 %i, i64 %n, float %x) {
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, %x
  store float %more, ptr %at, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %there = getelementptr float, ptr %d, i64 %n
  %second = load float, ptr %there, align 4
  %other = fadd float %second, %x
  store float %other, ptr %there, align 4
  ret void
}
; CHECK-LABEL: define ptx_kernel void @by_value__gradient(
; CHECK:       store float
; CHECK:       load float, ptr %there
define ptx_kernel void @by_value__gradient(ptr noalias %d, i64 %i, float %x) {
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, %x
  store float %more, ptr %at, align 4
  %next = fptosi float %first to i64
  %there = getelementptr float, ptr %d, i64 %next
  %second = load float, ptr %there, align 4
  %other = fadd float %second, %x
  store float %other, ptr %there, align 4
  ret void
}
; CHECK-LABEL: define ptx_kernel void @two_types__gradient(
; CHECK:       store float
; CHECK:       load double
define ptx_kernel void @two_types__gradient(ptr noalias %d, i64 %i, i64 %n, float %x) {
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, %x
  store float %more, ptr %at, align 4
  %there = getelementptr double, ptr %d, i64 %n
  %second = load double, ptr %there, align 8
  %other = fadd double %second, 1.0
  store double %other, ptr %there, align 8
  ret void
}
; CHECK-LABEL: define ptx_kernel void @one_element__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @one_element__gradient(ptr noalias %d, i32 %n, float %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load float, ptr %d, align 4
  %more = fadd float %old, %x
  store float %more, ptr %d, align 4
  %next = add nuw nsw i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

; A loop inside another one, of which a value is used behind both.
; CHECK-LABEL: define ptx_kernel void @nested__gradient(
; CHECK:       {{^}}loop:
; CHECK-COUNT-4: load float
; CHECK-NOT:   load
; CHECK-COUNT-4: store float
define ptx_kernel void @nested__gradient(ptr noalias %d, ptr noalias %to, i64 %n, float %x) {
entry:
  br label %outer
outer:
  %k = phi i64 [ 0, %entry ], [ %more_k, %latch ]
  %square = mul i64 %k, %k
  br label %loop
loop:
  %i = phi i64 [ %n, %outer ], [ %next, %loop ]
  %far = shl i64 %i, 5
  %number = add i64 %far, %k
  %at = getelementptr float, ptr %d, i64 %number
  %old = load float, ptr %at, align 4
  %more = fadd float %old, %x
  store float %more, ptr %at, align 4
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %latch, label %loop
latch:
  %more_k = add nuw nsw i64 %k, 1
  %all = icmp eq i64 %more_k, %n
  br i1 %all, label %exit, label %outer
exit:
  store i64 %square, ptr %to, align 8
  ret void
}

; An address that two ways bring.
; CHECK-LABEL: define ptx_kernel void @two_ways__gradient(
; CHECK-COUNT-1: load float
; CHECK-NOT:   load float
define ptx_kernel void @two_ways__gradient(ptr noalias %d, i64 %n, i1 %c, float %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %both ]
  br i1 %c, label %one, label %both
one:
  %twice = shl i64 %i, 1
  br label %both
both:
  %number = phi i64 [ %i, %loop ], [ %twice, %one ]
  %at = getelementptr float, ptr %d, i64 %number
  %old = load float, ptr %at, align 4
  %more = fadd float %old, %x
  store float %more, ptr %at, align 4
  %next = add nsw i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
