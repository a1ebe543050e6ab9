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
