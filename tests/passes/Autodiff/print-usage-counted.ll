; A loop that runs a known number of times, and writes nothing; its result is stored where nothing is read.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "counted":true
define void @adgen_body_k(ptr %x, ptr %y, i32 %n) {
entry:
  %start = load float, ptr %x
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %v = phi float [ %start, %entry ], [ %w, %loop ]
  %w = fmul float %v, %v
  %i.next = add nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  store float %w, ptr %y
  ret void
}
