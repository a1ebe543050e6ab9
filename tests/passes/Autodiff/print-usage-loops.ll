; Whether every loop runs a number of times that is known before it starts: here one does, and the other asks memory.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "counted":false
define void @adgen_body_k(ptr %x, i32 %n) {
entry:
  br label %known
known:
  %i = phi i32 [ 0, %entry ], [ %i.next, %known ]
  %i.next = add nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %known, label %asked
asked:
  %v = load i32, ptr %x
  %again = icmp sgt i32 %v, 0
  br i1 %again, label %asked, label %done
done:
  ret void
}
