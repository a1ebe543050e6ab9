; The result of every call with a derivative of our own gets a second use, which Enzyme cannot move; RestoreMath takes it away.
;
; RUN: %opt -passes=adgen-pin-rules -S %s | %filecheck %s
; RUN: %opt -passes=adgen-pin-rules,adgen-strip-guards -S %s | %filecheck %s --check-prefix=RESTORED

target triple = "nvptx64-nvidia-cuda"

%cotangents = type { float }

; CHECK-LABEL: @k(
; CHECK: %y = call float @adgen_math_j0f(float %x)
; CHECK-NEXT: call void @adgen_pin_adgen_math_j0f(float %y)
; CHECK-NEXT: call void @adgen_rule_barrier(ptr %p)
; CHECK-NEXT: store float %y, ptr %p
; RESTORED-NOT: adgen_pin
; RESTORED-NOT: __again
define void @k(float %x, ptr %p) {
  %y = call float @adgen_math_j0f(float %x)
  call void @adgen_rule_barrier(ptr %p)
  store float %y, ptr %p
  ret void
}

; What is computed sooner than read from a tape is computed again where it would need one: in a loop.
; CHECK-LABEL: @pairs(
; CHECK: %own = call float @adgen_math_rsqrtf(float %x){{$}}
; CHECK: %r = call float @adgen_math_rsqrtf__again(float %d2){{$}}
; CHECK: %b = call float @adgen_math_j0f(float %d2){{$}}
define float @pairs(float %x, ptr %p, i64 %n) {
entry:
  %own = call float @adgen_math_rsqrtf(float %x)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ %own, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %p, i64 %i
  %y = load float, ptr %at
  %d = fsub float %x, %y
  %d2 = fmul float %d, %d
  %r = call float @adgen_math_rsqrtf(float %d2)
  %b = call float @adgen_math_j0f(float %d2)
  %force = fmul float %r, %b
  %more = fadd float %sum, %force
  %next = add i64 %i, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %loop, label %exit

exit:
  ret float %more
}

; What takes longer is computed again where nothing has to be kept for it: of shared memory that is read again, and of arrays that nobody
; changes. Not of what recurs.
; CHECK-LABEL: @adgen_body_powers(
; CHECK: %shared = call float @adgen_math_powf__again(<2 x float> %pair){{$}}
; CHECK: %array = call float @adgen_math_powf__again(<2 x float> %other){{$}}
; CHECK: %carried = call float @adgen_math_powf(<2 x float> %last){{$}}
define void @adgen_body_powers(<2 x float> %exponent, ptr noalias readonly %p, ptr noalias %out, ptr %s, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %from = getelementptr float, ptr %s, i64 %i
  %y = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %from, i32 4)
  %pair = insertelement <2 x float> %exponent, float %y, i64 0
  %shared = call float @adgen_math_powf(<2 x float> %pair)
  %at = getelementptr float, ptr %p, i64 %i
  %z = load float, ptr %at
  %other = insertelement <2 x float> %exponent, float %z, i64 0
  %array = call float @adgen_math_powf(<2 x float> %other)
  %last = insertelement <2 x float> %exponent, float %sum, i64 0
  %carried = call float @adgen_math_powf(<2 x float> %last)
  %two = fmul float %shared, %array
  %more = fadd float %two, %carried
  %next = add i64 %i, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %loop, label %exit

exit:
  store float %more, ptr %out
  ret void
}

; A sum that a loop inside leaves behind would have to be kept in its place.
; CHECK-LABEL: @rows(
; CHECK: %scale = call float @adgen_math_rsqrtf(float %mean){{$}}
define void @rows(ptr %p, ptr %out, i64 %n, float %each) {
entry:
  br label %row

row:
  %r = phi i64 [ 0, %entry ], [ %below, %done ]
  br label %columns

columns:
  %c = phi i64 [ 0, %row ], [ %next, %columns ]
  %sum = phi float [ 0.0, %row ], [ %more, %columns ]
  %at = getelementptr float, ptr %p, i64 %c
  %x = load float, ptr %at
  %square = fmul float %x, %x
  %more = fadd float %sum, %square
  %next = add i64 %c, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %columns, label %done

done:
  %mean = fmul float %more, %each
  %scale = call float @adgen_math_rsqrtf(float %mean)
  %to = getelementptr float, ptr %out, i64 %r
  store float %scale, ptr %to
  %below = add i64 %r, 1
  %again = icmp ult i64 %below, %n
  br i1 %again, label %row, label %exit

exit:
  ret void
}

; Enzyme says of such results that they are numbers, and finite: what asks whether they are sees nothing of that.
; CHECK-LABEL: @asks(
; CHECK:         %small = fcmp olt float %y, 1.000000e+00
; CHECK:         [[NONE:%.*]] = call i1 @adgen_asks_32(i32 8, float %y, float 0.000000e+00)
; CHECK:         [[INFINITE:%.*]] = call i1 @adgen_asks_32(i32 1, float %size, float 0x7FF0000000000000)
; CHECK:         or i1 [[NONE]], [[INFINITE]]
; RESTORED-LABEL: @asks(
; RESTORED:      [[NONE:%.*]] = fcmp uno float %y, 0.000000e+00
; RESTORED:      [[INFINITE:%.*]] = fcmp oeq float %size, 0x7FF0000000000000
; RESTORED:      or i1 [[NONE]], [[INFINITE]]
define i1 @asks(float %x) {
  %y = call float @adgen_math_j0f(float %x)
  %small = fcmp olt float %y, 1.0
  %size = call float @llvm.fabs.f32(float %y)
  %none = fcmp uno float %y, 0.0
  %infinite = fcmp oeq float %size, 0x7FF0000000000000
  %either = or i1 %none, %infinite
  %all = and i1 %either, %small
  ret i1 %all
}

; CHECK-DAG: declare void @adgen_pin_adgen_math_j0f(float) [[PIN:#[0-9]+]]
; CHECK-DAG: attributes [[PIN]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" }
; CHECK-DAG: declare !enzyme_augment [[SELF:![0-9]+]] !enzyme_gradient [[REVERSE:![0-9]+]] float @adgen_math_rsqrtf(float)
; CHECK-DAG: declare !enzyme_augment [[SELF]] !enzyme_gradient [[REVERSE]] float @adgen_math_rsqrtf__again(float) [[AGAIN:#[0-9]+]]
; CHECK-DAG: attributes [[AGAIN]] = { "enzyme_shouldrecompute" }

declare !enzyme_augment !0 !enzyme_gradient !1 float @adgen_math_j0f(float)
declare %cotangents @adgen_math_j0f_reverse(float, float)
declare !enzyme_augment !2 !enzyme_gradient !2 void @adgen_rule_barrier(ptr)

declare !enzyme_augment !5 !enzyme_gradient !6 float @adgen_math_powf(<2 x float>)
declare %cotangents @adgen_math_powf_reverse(<2 x float>, float)
declare float @llvm.nvvm.ldu.global.f.f32.p0(ptr, i32)

declare !enzyme_augment !3 !enzyme_gradient !4 float @adgen_math_rsqrtf(float)
declare %cotangents @adgen_math_rsqrtf_reverse(float, float)

!0 = !{ptr @adgen_math_j0f}
!1 = !{ptr @adgen_math_j0f_reverse}
!2 = !{ptr @adgen_rule_barrier}
!3 = !{ptr @adgen_math_rsqrtf}
!4 = !{ptr @adgen_math_rsqrtf_reverse}
!5 = !{ptr @adgen_math_powf}
!6 = !{ptr @adgen_math_powf_reverse}
