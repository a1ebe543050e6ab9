; A number that a loop carries and multiplies with something that has a derivative is kept by a freeze, which all its uses in the loop get.
; Not one with a single use, one that is only added to or multiplied with constants, nor what the loop leaves behind.
;
; RUN: %opt -passes=adgen-keep-states-once,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_decay(
; CHECK:         %s = phi float [ 0.000000e+00, %entry ], [ %next, %loop ]
; CHECK-NEXT:    %once = phi float
; CHECK-NEXT:    %sum = phi float
; CHECK-NEXT:    [[KEPT:%.*]] = freeze float %s
; CHECK-NOT:     freeze
; CHECK:         fmul float [[KEPT]], %w
; CHECK-NEXT:    fmul float %a, [[KEPT]]
; CHECK-NEXT:    fsub float [[KEPT]], %a
; CHECK-NEXT:    fmul float %once, %w
; CHECK-NEXT:    fadd float %sum, %p
; CHECK-NEXT:    fmul float %sum, 2.000000e+00
; CHECK:       end:
; CHECK-NEXT:    store float %s, ptr %last
define void @adgen_body_decay(ptr %x, ptr %y, ptr %last, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %s = phi float [ 0.0, %entry ], [ %next, %loop ]
  %once = phi float [ 1.0, %entry ], [ %shrunk, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %total, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %w = load float, ptr %from
  %to = getelementptr float, ptr %y, i64 %i
  %a = load float, ptr %to
  %p = fmul float %s, %w
  %q = fmul float %a, %s
  %d = fsub float %s, %a
  %shrunk = fmul float %once, %w
  %total = fadd float %sum, %p
  %twice = fmul float %sum, 2.0
  %half = fadd float %q, %d
  %more.half = fadd float %half, %twice
  %next = fadd float %p, %more.half
  store float %shrunk, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store float %s, ptr %last
  ret void
}

; Where lanes hand numbers to each other, a call that Enzyme cannot repeat keeps it from finding the state out by the
; iteration before.
; CHECK-LABEL: define void @adgen_body_lanes(
; CHECK:         %s = phi float
; CHECK-NEXT:    [[HELD:%.*]] = call float @adgen_hold_ieee32(float %s)
; CHECK:         store float [[HELD]], ptr %sent
; CHECK:         fmul float [[HELD]], %w
define void @adgen_body_lanes(ptr %x, i64 %n) {
entry:
  %sent = alloca float
  %received = alloca float
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %s = phi float [ 1.0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %w = load float, ptr %from
  store float %s, ptr %sent
  call void @adgen_rule_shfl_up_f32(ptr %received, ptr %sent, i32 -1, i32 1, i32 0)
  %left = load float, ptr %received
  %p = fmul float %s, %w
  %next = fadd float %p, %left
  store float %next, ptr %from
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare void @adgen_rule_shfl_up_f32(ptr, ptr, i32, i32, i32)

; What was decided by an integer that many steps lead to is kept, not the integers that the loop carries; not where there
; are few steps, nor where it ends the loop. A branch behind the loop may follow from it, too.
; CHECK-LABEL: define void @adgen_body_draws(
; CHECK:         %drops = icmp
; CHECK-NEXT:    [[NUMBER:%.*]] = zext i1 %drops to i8
; CHECK-NEXT:    store i8 [[NUMBER]], ptr %held
; CHECK-NEXT:    call void @adgen_pin_variable(ptr %held)
; CHECK-NEXT:    [[HELD:%.*]] = load i8, ptr %held
; CHECK-NEXT:    [[KEPT:%.*]] = trunc i8 [[HELD]] to i1
; CHECK:         select i1 [[KEPT]], float %v, float 0.000000e+00
; CHECK:         br i1 %more
define void @adgen_body_draws(ptr %x, i32 %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %s0 = phi i32 [ 7, %entry ], [ %s24, %loop ]
  %l0 = shl i32 %s0, 13
  %r0 = lshr i32 %l0, 5
  %s1 = xor i32 %s0, %r0
  %l1 = shl i32 %s1, 13
  %r1 = lshr i32 %l1, 5
  %s2 = xor i32 %s1, %r1
  %l2 = shl i32 %s2, 13
  %r2 = lshr i32 %l2, 5
  %s3 = xor i32 %s2, %r2
  %l3 = shl i32 %s3, 13
  %r3 = lshr i32 %l3, 5
  %s4 = xor i32 %s3, %r3
  %l4 = shl i32 %s4, 13
  %r4 = lshr i32 %l4, 5
  %s5 = xor i32 %s4, %r4
  %l5 = shl i32 %s5, 13
  %r5 = lshr i32 %l5, 5
  %s6 = xor i32 %s5, %r5
  %l6 = shl i32 %s6, 13
  %r6 = lshr i32 %l6, 5
  %s7 = xor i32 %s6, %r6
  %l7 = shl i32 %s7, 13
  %r7 = lshr i32 %l7, 5
  %s8 = xor i32 %s7, %r7
  %l8 = shl i32 %s8, 13
  %r8 = lshr i32 %l8, 5
  %s9 = xor i32 %s8, %r8
  %l9 = shl i32 %s9, 13
  %r9 = lshr i32 %l9, 5
  %s10 = xor i32 %s9, %r9
  %l10 = shl i32 %s10, 13
  %r10 = lshr i32 %l10, 5
  %s11 = xor i32 %s10, %r10
  %l11 = shl i32 %s11, 13
  %r11 = lshr i32 %l11, 5
  %s12 = xor i32 %s11, %r11
  %l12 = shl i32 %s12, 13
  %r12 = lshr i32 %l12, 5
  %s13 = xor i32 %s12, %r12
  %l13 = shl i32 %s13, 13
  %r13 = lshr i32 %l13, 5
  %s14 = xor i32 %s13, %r13
  %l14 = shl i32 %s14, 13
  %r14 = lshr i32 %l14, 5
  %s15 = xor i32 %s14, %r14
  %l15 = shl i32 %s15, 13
  %r15 = lshr i32 %l15, 5
  %s16 = xor i32 %s15, %r15
  %l16 = shl i32 %s16, 13
  %r16 = lshr i32 %l16, 5
  %s17 = xor i32 %s16, %r16
  %l17 = shl i32 %s17, 13
  %r17 = lshr i32 %l17, 5
  %s18 = xor i32 %s17, %r17
  %l18 = shl i32 %s18, 13
  %r18 = lshr i32 %l18, 5
  %s19 = xor i32 %s18, %r18
  %l19 = shl i32 %s19, 13
  %r19 = lshr i32 %l19, 5
  %s20 = xor i32 %s19, %r19
  %l20 = shl i32 %s20, 13
  %r20 = lshr i32 %l20, 5
  %s21 = xor i32 %s20, %r20
  %l21 = shl i32 %s21, 13
  %r21 = lshr i32 %l21, 5
  %s22 = xor i32 %s21, %r21
  %l22 = shl i32 %s22, 13
  %r22 = lshr i32 %l22, 5
  %s23 = xor i32 %s22, %r22
  %l23 = shl i32 %s23, 13
  %r23 = lshr i32 %l23, 5
  %s24 = xor i32 %s23, %r23
  %drops = icmp ult i32 %s24, %p
  %at = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %at
  %kept = select i1 %drops, float %v, float 0.0
  store float %kept, ptr %at
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_steps(
; CHECK:         select i1 %drops
define void @adgen_body_steps(ptr %x, i32 %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %s0 = phi i32 [ 7, %entry ], [ %s2, %loop ]
  %l0 = shl i32 %s0, 13
  %r0 = lshr i32 %l0, 5
  %s1 = xor i32 %s0, %r0
  %l1 = shl i32 %s1, 13
  %r1 = lshr i32 %l1, 5
  %s2 = xor i32 %s1, %r1
  %drops = icmp ult i32 %s2, %p
  %at = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %at
  %kept = select i1 %drops, float %v, float 0.0
  store float %kept, ptr %at
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  br i1 %drops, label %behind, label %done
behind:
  store float 0.0, ptr %x
  br label %done
done:
  ret void
}
