; A number that a loop multiplies may be read in a loop inside, as for each channel of a colour. Not where it is multiplied there,
; nor where nothing keeps it from zero. A comparison that only says which iteration is kept as the last one does no harm, one that says what
; has a cotangent does.
;
; RUN: %opt -passes=adgen-invert-products,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_channels(
; CHECK:         %carried = alloca [4 x float]
; CHECK:       loop:
; CHECK-NOT:     %through
; CHECK:         [[T:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:       channel:
; CHECK:         %part = fmul float [[T]], %w
; CHECK:       latch:
; CHECK:         call void @adgen_undo_divide_f32_1(ptr %carried, i32 {{%.*}})
; CHECK-NEXT:    call void @adgen_undo_step_f32_1(ptr %carried)
define void @adgen_body_channels(ptr noalias readonly %x, ptr noalias readonly %colours, ptr noalias %out, i64 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %latch ]
  %through = phi float [ 1.0, %entry ], [ %rest, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %row = mul i64 %i, %m
  br label %channel
channel:
  %c = phi i64 [ 0, %loop ], [ %c.next, %channel ]
  %of = add i64 %row, %c
  %colour = getelementptr float, ptr %colours, i64 %of
  %v = load float, ptr %colour
  %w = fmul float %a, %v
  %part = fmul float %through, %w
  %to = getelementptr float, ptr %out, i64 %c
  %old = load float, ptr %to
  %new = fadd float %old, %part
  store float %new, ptr %to
  %c.next = add nuw nsw i64 %c, 1
  %more = icmp slt i64 %c.next, %m
  br i1 %more, label %channel, label %latch
latch:
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_within(
; CHECK-NOT:     adgen_undo
; CHECK:         ret void
define void @adgen_body_within(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %latch ]
  %through = phi float [ 1.0, %entry ], [ %rest, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  br label %inner
inner:
  %k = phi i64 [ 0, %loop ], [ %k.next, %next ]
  %t = phi float [ %through, %loop ], [ %t.next, %next ]
  %some = icmp slt i64 %k, 3
  br i1 %some, label %multiplies, label %next
multiplies:
  %product = fmul float %t, %a
  br label %next
next:
  %t.next = phi float [ %t, %inner ], [ %product, %multiplies ]
  %k.next = add nuw nsw i64 %k, 1
  %more = icmp slt i64 %k.next, %m
  br i1 %more, label %inner, label %latch
latch:
  %rest = phi float [ %t.next, %next ]
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %rest, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_any(
; CHECK-NOT:     adgen_undo
; CHECK:         ret void
define void @adgen_body_any(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %latch ]
  %through = phi float [ 1.0, %entry ], [ %rest, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  br label %inner
inner:
  %k = phi i64 [ 0, %loop ], [ %k.next, %inner ]
  %part = fmul float %through, %a
  %to = getelementptr float, ptr %out, i64 %k
  store float %part, ptr %to
  %k.next = add nuw nsw i64 %k, 1
  %more = icmp slt i64 %k.next, %m
  br i1 %more, label %inner, label %latch
latch:
  %rest = fmul float %through, %a
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_kept(
; CHECK:         %carried = alloca [4 x float]
; CHECK:       loop:
; CHECK:         [[T:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:         %clear = fcmp ogt float [[T]], 5.000000e-01
; CHECK:         call void @adgen_undo_divide_f32_1(ptr %carried, i32 {{%.*}})
; CHECK-NEXT:    call void @adgen_undo_step_f32_1(ptr %carried)
define void @adgen_body_kept(ptr noalias readonly %x, ptr noalias readonly %z, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum.next, %loop ]
  %won = phi i1 [ false, %entry ], [ %won.next, %loop ]
  %i.won = phi i64 [ 0, %entry ], [ %i.won.next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %part = fmul float %through, %a
  %sum.next = fadd float %sum, %part
  %clear = fcmp ogt float %through, 0.5
  %won.next = select i1 %clear, i1 true, i1 %won
  %i.won.next = select i1 %clear, i64 %i, i64 %i.won
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  %won.held = call i1 @adgen_hold_i1(i1 %won.next)
  %i.held = call i64 @adgen_hold_i64(i64 %i.won.next)
  %of = getelementptr float, ptr %z, i64 %i.held
  %depth = load float, ptr %of
  %median = select i1 %won.held, float %depth, float 0.0
  %all = fadd float %sum.next, %median
  store float %all, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_chosen(
; CHECK-NOT:     adgen_undo
; CHECK:         ret void
define void @adgen_body_chosen(ptr noalias readonly %x, ptr noalias readonly %z, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum.next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %of = getelementptr float, ptr %z, i64 %i
  %b = load float, ptr %of
  %clear = fcmp ogt float %through, 0.5
  %one = select i1 %clear, float %a, float %b
  %part = fmul float %through, %one
  %sum.next = fadd float %sum, %part
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %sum.next, ptr %out
  ret void
}
declare i1 @adgen_hold_i1(i1)
declare i64 @adgen_hold_i64(i64)
