; A lane that has nothing more to do walks through the loop for nothing until its warp leaves it together, or is left
; out where any other has something to do: its own answer takes the place of the vote. Not where the others decide what
; it does.
;
; RUN: %opt -passes=adgen-drop-votes,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.ctpop.i32(i32)

; `if (__all_sync(~0u, done)) break; if (done) continue;`, with a byte as C++ has it.
; CHECK-LABEL: define void @adgen_body_leaves(
; CHECK-NOT:     call i1
; CHECK:         br i1 %is, label %end, label %asks
define void @adgen_body_leaves(ptr readonly %x, ptr %y, i8 zeroext %first, i32 %n) {
entry:
  %begins = trunc i8 %first to i1
  %outside = zext i1 %begins to i8
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %inc, %latch ]
  %done = phi i8 [ %outside, %entry ], [ %done.next, %latch ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %latch ]
  %goes = icmp slt i32 %k, %n
  br i1 %goes, label %body, label %end
body:
  %is = trunc i8 %done to i1
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %is)
  br i1 %all, label %end, label %asks
asks:
  br i1 %is, label %latch, label %adds
adds:
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %more = fadd float %s, %a
  %stops = fcmp ogt float %more, 1.0
  %stopped = zext i1 %stops to i8
  br label %latch
latch:
  %done.next = phi i8 [ 1, %asks ], [ %stopped, %adds ]
  %s.next = phi float [ %s, %asks ], [ %more, %adds ]
  %inc = add i32 %k, 1
  br label %loop
end:
  store float %s, ptr %y
  ret void
}

; How far it came is asked for behind the loop.
; CHECK-LABEL: define void @adgen_body_counts(
; CHECK:         call i1 @llvm.nvvm.vote.all.sync
define void @adgen_body_counts(ptr %y, i1 %done, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %inc, %latch ]
  %goes = icmp slt i32 %k, %n
  br i1 %goes, label %body, label %end
body:
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %done)
  br i1 %all, label %end, label %latch
latch:
  %inc = add i32 %k, 1
  br label %loop
end:
  store i32 %k, ptr %y
  ret void
}

; Some lanes that are done go on to store, or meet.
; CHECK-LABEL: define void @adgen_body_stores(
; CHECK:         call i1 @llvm.nvvm.vote.all.sync
; CHECK:         call i1 @llvm.nvvm.vote.any.sync
define void @adgen_body_stores(ptr %y, i1 %done, i1 %valid) {
entry:
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %done)
  br i1 %all, label %next, label %writes
writes:
  store float 1.0, ptr %y
  br label %next
next:
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %valid)
  br i1 %any, label %meets, label %end
meets:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  br label %end
end:
  ret void
}
declare void @llvm.nvvm.bar.warp.sync(i32) convergent

; `if (!__any_sync(~0u, valid)) skip; if (valid) add;`, also in one condition, and by ballots.
; CHECK-LABEL: define void @adgen_body_skips(
; CHECK-NOT:     call i{{[0-9]+}} @llvm.nvvm.vote
; CHECK:         br i1 %valid, label %asks, label %second
; CHECK:         %both = and i1 %valid, %valid
; CHECK:         [[NONE:%.*]] = xor i1 %valid, true
; CHECK-NEXT:    br i1 [[NONE]], label %end, label %more
define void @adgen_body_skips(ptr %y, i1 %valid) {
entry:
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %valid)
  br i1 %any, label %asks, label %second
asks:
  br i1 %valid, label %adds, label %second
adds:
  store float 1.0, ptr %y
  br label %second
second:
  %again = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %valid)
  %both = and i1 %again, %valid
  br i1 %both, label %adds.again, label %third
adds.again:
  store float 2.0, ptr %y
  br label %third
third:
  %who = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %valid)
  %none = icmp eq i32 %who, 0
  br i1 %none, label %end, label %more
more:
  br i1 %valid, label %last, label %end
last:
  store float 3.0, ptr %y
  br label %end
end:
  ret void
}

; Their number is all of them; how many they are else is not what a lane knows.
; CHECK-LABEL: define void @adgen_body_numbers(
; CHECK:         br i1 %done, label %next, label %asks
; CHECK:         call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %done)
define void @adgen_body_numbers(ptr %y, i1 %done) {
entry:
  %who = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %done)
  %number = call i32 @llvm.ctpop.i32(i32 %who)
  %all = icmp eq i32 %number, 32
  br i1 %all, label %next, label %asks
asks:
  br i1 %done, label %next, label %adds
adds:
  store float 1.0, ptr %y
  br label %next
next:
  %which = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %done)
  %how.many = call i32 @llvm.ctpop.i32(i32 %which)
  %half = icmp eq i32 %how.many, 16
  br i1 %half, label %end, label %once.more
once.more:
  br i1 %done, label %end, label %adds.more
adds.more:
  store float 1.0, ptr %y
  br label %end
end:
  ret void
}
