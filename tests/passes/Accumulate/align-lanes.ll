; Loops that lanes walk back from different iterations are walked back from the last iteration of any of them, and what
; some lanes add to an element of the iteration is added behind it, with zeros of the others.
;
; RUN: %opt -passes='adgen-align-lanes,verify' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; Lanes that went past the loop come along, with what they had; the carried number changes in a lane's own iterations
; alone. Two additions are made together, from numbers or zeros.
; CHECK-LABEL: define float @left_in_different_iterations(
; CHECK:       ran:
; CHECK-NEXT:    [[LOADED:%.*]] = load i64, ptr %at
; CHECK-NEXT:    br label %[[TOGETHER:.*]]
; CHECK:       [[TOGETHER]]:
; CHECK-DAG:     [[OWN:%.*]] = phi i64 [ [[LOADED]], %ran ], [ -1, %entry ]
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[MOST:%.*]] = call i64 @adgen_most(i32 [[ACTIVE]], i64 [[OWN]]) #[[CONVERGENT:[0-9]+]]
; CHECK-NEXT:    [[ANY:%.*]] = icmp sge i64 [[MOST]], 0
; CHECK-NEXT:    br i1 [[ANY]], label %[[ENTRY:.*]], label %end
; CHECK:       walk:
; CHECK-NEXT:    %k = phi i64 [ [[MOST]], %[[ENTRY]] ], [ [[NEXT:%.*]], %back ]
; CHECK-NEXT:    %carried = phi float [ %seed, %[[ENTRY]] ], [ [[KEPT:%.*]], %back ]
; CHECK-NEXT:    [[COMES:%.*]] = icmp sle i64 %k, [[OWN]]
; CHECK-NEXT:    br i1 [[COMES]], label %[[BODY:.*]], label %[[BEHIND:.*]]
; CHECK:       adds:
; CHECK-NOT:     atomicrmw
; CHECK:       turn:
; CHECK:         [[ADDS:%.*]] = phi i1 [ true, %adds ], [ false, %[[BODY]] ]
; CHECK:       [[BEHIND]]:
; CHECK-DAG:     [[KEPT]] = phi float [ %changed, %turn ], [ %carried, %walk ]
; CHECK-DAG:     [[ADDED:%.*]] = phi i1 [ [[ADDS]], %turn ], [ false, %walk ]
; CHECK-DAG:     phi float [ %behind{{[0-9]*}}, %turn ], [ 0.000000e+00, %walk ]
; CHECK:         [[LAST:%.*]] = icmp eq i64 %k, 0
; CHECK:         [[HERE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[LANES:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 [[HERE]], i1 [[ADDED]])
; CHECK-NEXT:    [[ADD:%.*]] = icmp ne i32 [[LANES]], 0
; CHECK-NEXT:    br i1 [[ADD]], label %[[ADDING:.*]], label %[[ON:.*]]
; CHECK:       [[ADDING]]:
; CHECK-NEXT:    [[FIRST:%.*]] = getelementptr float, ptr %d_tile, i64 %k
; CHECK-NEXT:    atomicrmw fadd ptr [[FIRST]], float %behind{{[0-9]*}} monotonic
; CHECK-NEXT:    [[SECOND:%.*]] = getelementptr i8, ptr [[FIRST]], i64 256
; CHECK-NEXT:    atomicrmw fadd ptr [[SECOND]], float %behind{{[0-9]*}} monotonic
; CHECK-NEXT:    br label %[[ON]]
; CHECK:       [[ON]]:
; CHECK-NEXT:    br i1 [[LAST]], label %left, label %back
; CHECK:       back:
; CHECK:         [[NEXT]] = add i64 %k, -1
; CHECK:       end:
; CHECK-NEXT:    %result = phi float [ %seed, %[[TOGETHER]] ], [ %{{.*}}, %left ]
define float @left_in_different_iterations(i1 %none, float %seed, ptr %counts, ptr %tile,
                                           ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  br i1 %none, label %end, label %ran
ran:
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %ran ], [ %next, %back ]
  %carried = phi float [ %seed, %ran ], [ %changed, %back ]
  %read = getelementptr float, ptr %tile, i64 %k
  %v = load float, ptr %read
  %is = fcmp ogt float %v, 0.0
  br i1 %is, label %adds, label %turn
adds:
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %beside = getelementptr i8, ptr %place, i64 256
  %2 = atomicrmw fadd ptr %beside, float %carried monotonic
  br label %turn
turn:
  %changed = fmul float %carried, %v
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %back
back:
  %next = add i64 %k, -1
  br label %walk
left:
  br label %end
end:
  %result = phi float [ %seed, %entry ], [ %changed, %left ]
  ret float %result
}

; A loop of one block, which no lane goes past.
; CHECK-LABEL: define void @of_one_block(
; CHECK:         call i64 @adgen_most(
; CHECK:         atomicrmw fadd ptr {{.*}} monotonic
; CHECK-NEXT:    br label
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @of_one_block(float %v, ptr %counts, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %walk ]
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i64 %k, -1
  %more = icmp ne i64 %k, 0
  br i1 %more, label %walk, label %left
left:
  ret void
}

; Elements that are looked up, be it on the tape, of which a lane that waits may have kept nothing: no lane looks in an
; iteration that is not its own, and another lends it the element.
; CHECK-LABEL: define void @looked_up(
; CHECK:         call i64 @adgen_most(
; CHECK:         br i1 %comes, label %[[OWN:.*]], label %[[BEHIND:.*]]
; CHECK:       [[OWN]]:
; CHECK:         %name = load i32, ptr %of
; CHECK:       [[BEHIND]]:
; CHECK-DAG:     [[NAME:%.*]] = phi i32 [ 0, %walk ], [ %name, %[[OWN]] ]
; CHECK:         [[LANES:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(
; CHECK-NOT:     load
; CHECK:         [[WIDE:%.*]] = zext i32 [[NAME]] to i64
; CHECK-NEXT:    [[LENT:%.*]] = call i64 @adgen_lent(i32 {{%.*}}, i32 [[LANES]], i64 [[WIDE]])
; CHECK-NEXT:    [[ELEMENT:%.*]] = trunc i64 [[LENT]] to i32
; CHECK-NEXT:    [[PLACE:%.*]] = getelementptr float, ptr %d_x, i32 [[ELEMENT]]
; CHECK-NEXT:    atomicrmw fadd ptr [[PLACE]], float
; CHECK:         ret void
define void @looked_up(float %v, ptr %counts, ptr noalias %names,
                       ptr noalias "adgen-shadow" %d_x) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %walk ]
  %of = getelementptr i32, ptr %names, i64 %k
  %name = load i32, ptr %of
  %place = getelementptr float, ptr %d_x, i32 %name
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %walk
left:
  ret void
}

; Numbers that the last iteration alone has, and what is counted behind the decision: lanes that wait hold both.
; CHECK-LABEL: define void @held(
; CHECK:       walk:
; CHECK:         %first = phi float [ %seed, %{{.*}} ], [ [[KEPT:%.*]], %back ]
; CHECK:         %other = phi i32 [ 7, %{{.*}} ], [ [[COUNTED:%.*]], %back ]
; CHECK:         %comes = icmp sle i64 %k,
; CHECK:       back:
; CHECK:         %more = add i32 %other, 1
; CHECK-DAG:     [[KEPT]] = select i1 %comes, float 0.000000e+00, float %first
; CHECK-DAG:     [[COUNTED]] = select i1 %comes, i32 %more, i32 %other
; CHECK:         br label %walk
define void @held(float %seed, ptr %counts, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %back ]
  %first = phi float [ %seed, %entry ], [ 0.0, %back ]
  %other = phi i32 [ 7, %entry ], [ %more, %back ]
  %number = sitofp i32 %other to float
  %v = fadd float %first, %number
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %back
back:
  %more = add i32 %other, 1
  %next = add i64 %k, -1
  br label %walk
left:
  ret void
}

; Three branches add to elements at a place that is known before they part. Where some lane comes to each of them, all
; additions are made together, at the place of a lane that makes any; else each is made where a lane makes that.
; CHECK-LABEL: define void @in_branches(
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[A:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 [[ACTIVE]],
; CHECK-NEXT:    [[SOME:%.*]] = icmp ne i32 [[A]], 0
; CHECK-NEXT:    [[B:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 [[ACTIVE]],
; CHECK:         [[AB:%.*]] = or i32 [[A]], [[B]]
; CHECK:         [[C:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 [[ACTIVE]],
; CHECK:         [[ANY:%.*]] = or i32 [[AB]], [[C]]
; CHECK-NEXT:    [[ALL:%.*]] = and i1
; CHECK:         br i1 [[ALL]], label %[[COMPARE:.*]], label %[[APART:.*]]
; CHECK:       [[COMPARE]]:
; CHECK-NEXT:    [[WIDE:%.*]] = zext i32 {{%.*}} to i64
; CHECK-NEXT:    [[LENT:%.*]] = call i64 @adgen_lent_to_all(i32 [[ACTIVE]], i32 [[ANY]], i64 [[WIDE]])
; CHECK:         [[SAME:%.*]] = icmp eq i64 [[WIDE]], [[LENT]]
; CHECK-NEXT:    [[IDLE:%.*]] = xor i1 {{%.*}}, true
; CHECK-NEXT:    or i1 [[SAME]], [[IDLE]]
; CHECK:         [[ALIKE:%.*]] = call i1 @llvm.nvvm.vote.all.sync(i32 [[ACTIVE]],
; CHECK-NEXT:    br i1 [[ALIKE]], label %[[TOGETHER:.*]], label %[[APART]]
; CHECK:       [[TOGETHER]]:
; CHECK-NOT:     @adgen_lent
; CHECK:         atomicrmw
; CHECK:         atomicrmw
; CHECK:         atomicrmw
; CHECK-NEXT:    br label
; CHECK:       [[APART]]:
; CHECK:         vote.ballot
; CHECK:         atomicrmw
; CHECK:         vote.ballot
; CHECK:         atomicrmw
; CHECK:         vote.ballot
; CHECK:         atomicrmw
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @in_branches(ptr %counts, i32 %width, float %v, i1 %a, i1 %b, i1 %c,
                         ptr "adgen-shadow" %d_w) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %back ]
  %i = trunc i64 %k to i32
  %number = add i32 %i, %x
  %row = sdiv i32 %number, %width
  %place = getelementptr float, ptr %d_w, i32 %row
  br i1 %a, label %first, label %ask
first:
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  br label %ask
ask:
  br i1 %b, label %second, label %again
second:
  %beside = getelementptr i8, ptr %place, i64 4
  %2 = atomicrmw fadd ptr %beside, float %v monotonic
  br label %again
again:
  br i1 %c, label %third, label %turn
third:
  %further = getelementptr i8, ptr %place, i64 8
  %3 = atomicrmw fadd ptr %further, float %v monotonic
  br label %turn
turn:
  %done = icmp eq i64 %k, 0
  br i1 %done, label %end, label %back
back:
  %next = add i64 %k, -1
  br label %walk
end:
  ret void
}

; All lanes begin with the same iteration; lanes have elements of their own; or the sums are read in the loop.
; CHECK-LABEL: define void @begin_together(
; CHECK-NOT:     adgen_most
; CHECK-LABEL: define void @begin_together_where_some_come(
; CHECK-NOT:     adgen_most
; CHECK-LABEL: define void @elements_of_their_own(
; CHECK-NOT:     adgen_most
; CHECK-LABEL: define void @reads_the_sum(
; CHECK-NOT:     adgen_most
; CHECK-LABEL: define void @end
define void @begin_together(i64 %last, float %v, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %walk ]
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %walk
left:
  ret void
}

define void @begin_together_where_some_come(i32 %count, float %v,
                                            ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp ult i32 %x, 20
  br i1 %in, label %ran, label %left
ran:
  %less = add i32 %count, -1
  %last = zext i32 %less to i64
  br label %walk
walk:
  %k = phi i64 [ %last, %ran ], [ %next, %walk ]
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %walk
left:
  ret void
}

define void @elements_of_their_own(float %v, ptr %counts, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  %row = getelementptr [64 x float], ptr %d_tile, i32 %x
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %walk ]
  %place = getelementptr float, ptr %row, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %walk
left:
  ret void
}

define void @reads_the_sum(float %v, ptr %counts, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %walk ]
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  %other = getelementptr float, ptr %d_tile, i32 %x
  %2 = load float, ptr %other
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %left, label %walk
left:
  ret void
}

define void @end() {
  ret void
}

; A cycle that is entered at two places is no loop, but comes by the addition more than once in an iteration.
; CHECK-LABEL: define void @has_cycle(
; CHECK-NOT:     adgen_most
; CHECK:         atomicrmw fadd
define void @has_cycle(ptr %counts, ptr %places, ptr "adgen-shared-shadow" %d_tile, i32 %n) "adgen-activity"="const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i64, ptr %counts, i32 %x
  %last = load i64, ptr %at
  br label %walk
walk:
  %k = phi i64 [ %last, %entry ], [ %next, %back ]
  %odd = trunc i64 %k to i1
  br i1 %odd, label %adds, label %between
adds:
  %j = phi i32 [ 0, %walk ], [ %m, %between ]
  %place = getelementptr float, ptr %d_tile, i64 %k
  %1 = atomicrmw fadd ptr %place, float 2.0 monotonic
  br label %between
between:
  %i = phi i32 [ %n, %walk ], [ %j, %adds ]
  %m = add i32 %i, 1
  %more = icmp slt i32 %m, %n
  br i1 %more, label %adds, label %turn
turn:
  %zero = icmp eq i64 %k, 0
  br i1 %zero, label %end, label %back
back:
  %next = add i64 %k, -1
  br label %walk
end:
  ret void
}

; CHECK: attributes #[[CONVERGENT]] = { convergent }
