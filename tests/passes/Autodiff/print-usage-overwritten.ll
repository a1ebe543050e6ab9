; What a loop overwrites, and an input that is written elsewhere, stand against Enzyme's choice of the fewest values.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "counted":false
define void @adgen_body_k(ptr %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %v = load float, ptr %x
  %w = fmul float %v, %v
  store float %w, ptr %x
  %i.next = add nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
