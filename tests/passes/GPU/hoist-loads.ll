; The loads of a gradient come before the first division of their block, with what their addresses need.
;
; RUN: %opt -passes=adgen-hoist-loads,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare float @llvm.sqrt.f32(float)

; CHECK-LABEL: define ptx_kernel void @apart__gradient(
; CHECK:         load float, ptr %a
; CHECK-NEXT:    add i64
; CHECK-NEXT:    [[AT:%.*]] = getelementptr float, ptr %b
; CHECK-NEXT:    load float, ptr [[AT]]
; CHECK-NEXT:    fdiv float
; CHECK-NEXT:    store float
define ptx_kernel void @apart__gradient(ptr noalias %a, ptr noalias %b, ptr noalias %out, i64 %i) {
  %x = load float, ptr %a
  %q = fdiv float 1.0, %x
  store float %q, ptr %out
  %j = add i64 %i, 1
  %at = getelementptr float, ptr %b, i64 %j
  %y = load float, ptr %at
  %s = fadd float %y, %q
  store float %s, ptr %a
  ret void
}

; What may be written before it stays behind that, and so does one whose address needs the division.
; CHECK-LABEL: define ptx_kernel void @stays__gradient(
; CHECK:         call float @llvm.sqrt.f32
; CHECK-NEXT:    store float
; CHECK-NEXT:    load float, ptr %b
; CHECK:         fptosi float
; CHECK-NEXT:    getelementptr
; CHECK-NEXT:    load float
define ptx_kernel void @stays__gradient(ptr noalias %a, ptr %b, ptr %out) {
  %x = load float, ptr %a
  %q = call float @llvm.sqrt.f32(float %x)
  store float %q, ptr %out
  %y = load float, ptr %b
  %i = fptosi float %q to i64
  %at = getelementptr float, ptr %a, i64 %i
  %z = load float, ptr %at
  %s = fadd float %y, %z
  store float %s, ptr %out
  ret void
}

; The primal is the user's.
; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK:         fdiv float
; CHECK-NEXT:    load float, ptr %b
define ptx_kernel void @primal(ptr noalias %a, ptr noalias %b, ptr noalias %out) {
  %x = load float, ptr %a
  %q = fdiv float 1.0, %x
  %y = load float, ptr %b
  %s = fadd float %y, %q
  store float %s, ptr %out
  ret void
}

; A path goes on behind branches between which nothing but arithmetic lies.
; CHECK-LABEL: define ptx_kernel void @around_mathematics__gradient(
; CHECK:         load float, ptr %a
; CHECK:         load float, ptr %b
; CHECK:         getelementptr float, ptr %b, i64 1
; CHECK-NEXT:    load float
; CHECK-NEXT:    br i1
define ptx_kernel void @around_mathematics__gradient(ptr noalias %a, ptr noalias %b, ptr noalias %out) {
entry:
  %x = load float, ptr %a
  %negative = fcmp olt float %x, 0.0
  br i1 %negative, label %turned, label %next

turned:
  %minus = fneg float %x
  br label %next

next:
  %size = phi float [ %x, %entry ], [ %minus, %turned ]
  %y = load float, ptr %b
  %more = fcmp olt float %y, %size
  br i1 %more, label %less, label %last

less:
  %half = fmul float %y, 0.5
  br label %last

last:
  %z = phi float [ %y, %next ], [ %half, %less ]
  %at = getelementptr float, ptr %b, i64 1
  %w = load float, ptr %at
  %s = fadd float %z, %w
  store float %s, ptr %out
  ret void
}

; Not behind what touches memory, not behind a barrier, and not into a loop.
; CHECK-LABEL: define ptx_kernel void @around_more__gradient(
; CHECK:       next:
; CHECK:         load float, ptr %b
; CHECK-NEXT:    fcmp olt
; CHECK:       behind:
; CHECK:         call void @llvm.nvvm.barrier
; CHECK:         load float, ptr %at
; CHECK:       again:
; CHECK:         load float, ptr %a
define ptx_kernel void @around_more__gradient(ptr noalias %a, ptr noalias %b, ptr noalias %out, i32 %n) {
entry:
  %x = load float, ptr %a
  %negative = fcmp olt float %x, 0.0
  br i1 %negative, label %told, label %next

told:
  store float 1.0, ptr %out
  br label %next

next:
  %y = load float, ptr %b
  %more = fcmp olt float %y, %x
  br i1 %more, label %less, label %behind

less:
  %half = fmul float %y, 0.5
  br label %behind

behind:
  %z = phi float [ %y, %next ], [ %half, %less ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = getelementptr float, ptr %b, i64 1
  %first = load float, ptr %at
  br label %again

again:
  %i = phi i32 [ 0, %behind ], [ %j, %again ]
  %t = phi float [ %first, %behind ], [ %s, %again ]
  %w = load float, ptr %a
  %v = fadd float %w, %z
  %s = fadd float %t, %v
  %j = add i32 %i, 1
  %done = icmp sge i32 %j, %n
  br i1 %done, label %end, label %again

end:
  store float %s, ptr %out
  ret void
}

; Not out of a cycle that is entered in two places: what follows the branch in it is loaded again each time.
; CHECK-LABEL: define ptx_kernel void @entered_twice__gradient(
; CHECK:       entry:
; CHECK-NOT:     load
; CHECK:         br i1
; CHECK:       second:
; CHECK:         load float, ptr %a
define ptx_kernel void @entered_twice__gradient(ptr noalias %a, ptr noalias %out, i1 %which, i32 %n) {
entry:
  br i1 %which, label %first, label %second

first:
  %i = phi i32 [ 0, %entry ], [ %k, %second ]
  br label %second

second:
  %j = phi i32 [ 0, %entry ], [ %i, %first ]
  %x = load float, ptr %a
  %y = fmul float %x, 0.5
  store float %y, ptr %a
  %k = add i32 %j, 1
  %done = icmp sge i32 %k, %n
  br i1 %done, label %end, label %first

end:
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
