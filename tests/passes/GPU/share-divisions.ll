; A division that branches repeat is done once where they part, by one where nobody would divide, and so is what follows
; from it. Of one that comes before the others nothing changes but that they use it; nothing moves into a loop that the
; branches are not in.
;
; RUN: %opt -passes=adgen-share-divisions,instsimplify,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @branches(
; CHECK:       loop:
; CHECK:         [[N:%.*]] = freeze i32 %width
; CHECK:         [[ZERO:%.*]] = icmp eq i32 [[N]], 0
; CHECK:         [[X:%.*]] = freeze i32 %i
; CHECK:         [[BY:%.*]] = select i1 {{%.*}}, i32 1, i32 [[N]]
; CHECK-NEXT:    [[ROW:%.*]] = sdiv i32 [[X]], [[BY]]
; CHECK-NEXT:    [[TWICE:%.*]] = mul i32 [[ROW]], 2
; CHECK-NEXT:    br i1 %is, label %one, label %other
; CHECK-NOT:     {{sdiv|mul}}
; CHECK:         %alone = sdiv i32 %i, %n
; CHECK-NOT:     {{sdiv|mul}}
; CHECK:       after:
; CHECK-NEXT:    getelementptr i32, ptr %x, i32 [[TWICE]]
define void @branches(ptr noalias %x, ptr noalias %y, i32 %width, i32 %n) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %after ]
  %here = getelementptr i1, ptr %y, i32 %i
  %is = load i1, ptr %here
  br i1 %is, label %one, label %other
one:
  %row = sdiv i32 %i, %width
  %twice = mul nsw i32 %row, 2
  br label %after
other:
  %again = sdiv i32 %i, %width
  %double = mul nsw i32 %again, 2
  %alone = sdiv i32 %i, %n
  store i32 %alone, ptr %y
  br label %after
after:
  %at = phi i32 [ %twice, %one ], [ %double, %other ]
  %to = getelementptr i32, ptr %x, i32 %at
  store i32 %i, ptr %to
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The ways part inside the inner loop, which both are behind: before it.
; CHECK-LABEL: define void @behind_a_loop(
; CHECK:       entry:
; CHECK:         udiv
; CHECK:       inner:
; CHECK-NOT:     udiv
; CHECK:         ret void
define void @behind_a_loop(ptr %x, i32 %a, i32 %b) "adgen-activity"="const" {
entry:
  br label %inner
inner:
  %early = load volatile i1, ptr %x
  br i1 %early, label %left, label %turn
turn:
  %late = load volatile i1, ptr %x
  br i1 %late, label %done, label %inner
left:
  %one = udiv i32 %a, %b
  store volatile i32 %one, ptr %x
  ret void
done:
  %other = udiv i32 %a, %b
  store volatile i32 %other, ptr %x
  ret void
}

; CHECK-LABEL: define void @before(
; CHECK:         %first = udiv exact i32 %a, %b
; CHECK-NOT:     udiv
; CHECK:         ret void
define void @before(ptr %x, i32 %a, i32 %b, i1 %is) "adgen-activity"="const" {
entry:
  %first = udiv exact i32 %a, %b
  store i32 %first, ptr %x
  br i1 %is, label %one, label %end
one:
  %second = udiv exact i32 %a, %b
  store volatile i32 %second, ptr %x
  br label %end
end:
  ret void
}
