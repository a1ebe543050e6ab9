; Ways that meet in a block of nothing but phis, which asks a number where to go on, lead there at once. Not where a way brings no number,
; where the block does something, or where it begins a loop.
;
; RUN: %opt -passes=adgen-thread-dispatches,verify -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_breaks(
; CHECK:       body:
; CHECK:         br i1 %skips, label %[[ON:.*]], label %asks
; CHECK:       asks:
; CHECK:         br i1 %stops, label %[[OUT:.*]], label %adds
; CHECK:       adds:
; CHECK:         br label %[[ON]]
; CHECK:       [[ON]]:
; CHECK:         %[[NEXT:.*]] = phi float [ %s, %body ], [ %more, %adds ]
; CHECK:         br label %latch
; CHECK:       [[OUT]]:
; CHECK:         %[[LAST:.*]] = phi float [ 1.0{{.*}}, %asks ]
; CHECK:         br label %end
; CHECK-NOT:     switch
; CHECK:       end:
; CHECK:         phi float [ %[[LAST]], %[[OUT]] ], [ %[[NEXT]], %latch ]
define void @adgen_body_breaks(ptr noalias readonly %x, ptr noalias %out, i32 %n) {
entry:
  br label %body
body:
  %k = phi i32 [ 0, %entry ], [ %inc, %latch ]
  %s = phi float [ 0.0, %entry ], [ %s.end, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %skips = fcmp olt float %a, 0.0
  br i1 %skips, label %cleanup, label %asks
asks:
  %stops = fcmp ogt float %a, 1.0
  br i1 %stops, label %cleanup, label %adds
adds:
  %more = fadd float %s, %a
  br label %cleanup
cleanup:
  %slot = phi i32 [ 4, %body ], [ 2, %asks ], [ 0, %adds ]
  %s.end = phi float [ %s, %body ], [ 1.0, %asks ], [ %more, %adds ]
  switch i32 %slot, label %end [
    i32 0, label %latch
    i32 4, label %latch
  ]
latch:
  %inc = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %inc, %n
  br i1 %again, label %body, label %end
end:
  %result = phi float [ %s.end, %cleanup ], [ %s.end, %latch ]
  store float %result, ptr %out
  ret void
}

; How the number compares with one.
; CHECK-LABEL: define void @adgen_body_compares(
; CHECK:         br i1 %first, label %[[ONE:.*]], label %other
; CHECK:       other:
; CHECK:         br label %[[TWO:.*]]
; CHECK:       [[ONE]]:
; CHECK:         br label %no
; CHECK:       [[TWO]]:
; CHECK:         br label %yes
define void @adgen_body_compares(ptr noalias %out, i1 %first) {
entry:
  br i1 %first, label %meet, label %other
other:
  store float 2.0, ptr %out
  br label %meet
meet:
  %slot = phi i32 [ 2, %entry ], [ 0, %other ]
  %is = icmp eq i32 %slot, 0
  br i1 %is, label %yes, label %no
yes:
  store float 1.0, ptr %out
  ret void
no:
  ret void
}

; CHECK-LABEL: define void @adgen_body_does_something(
; CHECK:       meet:
; CHECK-NEXT:    %is = phi i1
; CHECK:       last:
; CHECK-NEXT:    %which = phi i1
; CHECK:       loop:
; CHECK-NEXT:    %on = phi i1
define void @adgen_body_does_something(ptr noalias %out, i1 %first, i1 %second) {
entry:
  br i1 %first, label %meet, label %other
other:
  br label %meet
meet:
  %is = phi i1 [ true, %entry ], [ false, %other ]
  store float 2.0, ptr %out
  br i1 %is, label %unknown, label %no
unknown:
  br i1 %second, label %last, label %yes
yes:
  br label %last
last:
  %which = phi i1 [ %second, %unknown ], [ false, %yes ]
  br i1 %which, label %no, label %loop
loop:
  %on = phi i1 [ true, %last ], [ false, %loop ]
  br i1 %on, label %loop, label %no
no:
  ret void
}

; A way that brings one of two constants becomes two.
; CHECK-LABEL: define void @adgen_body_chooses(
; CHECK:       takes:
; CHECK:         br i1 %stops, label %[[OUT:.*]], label %[[ON:.*]]
; CHECK-NOT:     switch
define void @adgen_body_chooses(ptr noalias readonly %x, ptr noalias %out, i32 %n) {
entry:
  br label %body
body:
  %k = phi i32 [ 0, %entry ], [ %inc, %latch ]
  %s = phi float [ 0.0, %entry ], [ %s.end, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %skips = fcmp olt float %a, 0.0
  br i1 %skips, label %cleanup, label %takes
takes:
  %more = fadd float %s, %a
  %stops = fcmp ogt float %more, 1.0
  %way = select i1 %stops, i32 5, i32 0
  br label %cleanup
cleanup:
  %slot = phi i32 [ 7, %body ], [ %way, %takes ]
  %s.end = phi float [ %s, %body ], [ %more, %takes ]
  switch i32 %slot, label %end [
    i32 0, label %latch
    i32 7, label %latch
  ]
latch:
  %inc = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %inc, %n
  br i1 %again, label %body, label %end
end:
  %result = phi float [ %s.end, %cleanup ], [ %s.end, %latch ]
  store float %result, ptr %out
  ret void
}
