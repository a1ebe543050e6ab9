; In bodies a barrier becomes the call of a mere declaration for which a derivative is registered, so that Enzyme puts a barrier into the
; reverse sweep at the same place. The call takes an anchor in differentiated memory (a shared array, else a duplicated
; parameter), without which Enzyme would drop it there; its derivatives take the anchor's shadow too. Shuffles go the same way, and what
; carries no derivative hides behind a name that Enzyme leaves alone.
;
; RUN: %opt -passes='adgen-lower-collectives-to-rules<shared=duplicated:const;duplicated=const:duplicated;constant=const;warp=duplicated:const;misses=duplicated;tallies=duplicated;switches=duplicated;loops=duplicated:const;restricted=duplicated:const;left=duplicated:const;inside=duplicated;table=duplicated:const;bits=duplicated:duplicated:const:const;volatile=duplicated:duplicated;counts=duplicated;of_16_bits=duplicated:duplicated>' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; Nothing refers to the derivatives but metadata, so a list keeps them.
; CHECK: @llvm.compiler.used = appending global {{.*}} [ptr @adgen_rule_barrier_augmented, ptr @adgen_rule_barrier_reverse, {{.*}}, section "llvm.metadata"

; CHECK-LABEL: define void @adgen_body_shared(
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile) [[CONVERGENT:#[0-9]+]]
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile) [[CONVERGENT]]
; CHECK-NEXT:    call void @adgen_rule_warp_barrier(ptr %tile, i32 %mask) [[CONVERGENT]]
; CHECK-NEXT:    ret void
define void @adgen_body_shared(ptr %x, i32 %mask, ptr %tile) "adgen-shared"="tile" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  ret void
}

; CHECK-LABEL: define void @adgen_body_duplicated(
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %x)
define void @adgen_body_duplicated(i32 %n, ptr %x) "adgen-shared" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; A thread that returns before a barrier goes on to wait with the others before it turns back.
; CHECK-LABEL: define void @adgen_body_misses(
; CHECK:         call void @adgen_rule_counted_barrier(ptr %x)
; CHECK:         call void @adgen_rule_turn(ptr %x)
; CHECK-NEXT:    ret void
define void @adgen_body_misses(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %wait, label %end
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
}

; Where barriers count, too, each counts: a thread that has come to the end says nothing, and a condition of all is that none says no.
; CHECK-LABEL: define void @adgen_body_tallies(
; CHECK:         call void @adgen_rule_counted_barrier(ptr %x)
; CHECK-NEXT:    call i32 @adgen_lanes_tally(i1 false)
; CHECK-NEXT:    call void @adgen_rule_counted_barrier(ptr %x)
; CHECK-NEXT:    [[NOT:%.*]] = xor i1 %few, true
; CHECK-NEXT:    [[NO:%.*]] = call i32 @adgen_lanes_tally(i1 [[NOT]])
; CHECK-NEXT:    [[ALL:%.*]] = icmp eq i32 [[NO]], 0
; CHECK-NEXT:    br i1 [[ALL]],
; CHECK:         call void @adgen_rule_tallied_turn(ptr %x)
; CHECK-NEXT:    ret void
define void @adgen_body_tallies(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %wait, label %end
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %all = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %few)
  br i1 %all, label %store, label %end
store:
  store float 1.0, ptr %x
  br label %end
end:
  ret void
}

; No thread goes where nothing can be reached, so all of them meet behind a switch that has all cases.
; CHECK-LABEL: define void @adgen_body_switches(
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK-NOT:     turn
; CHECK:         ret void
define void @adgen_body_switches(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %case = and i32 %t, 1
  switch i32 %case, label %none [
    i32 0, label %wait
    i32 1, label %one
  ]
none:
  unreachable
one:
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Where all threads take the same way to a barrier, none misses it: blocks, counts behind barriers and what was read first differ in no thread.
; CHECK-LABEL: define void @adgen_body_loops(
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK-NOT:     adgen_rule_turn
; CHECK:         ret void
define void @adgen_body_loops(ptr %x, ptr %rounds) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = getelementptr float, ptr %x, i32 %t
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %after ]
  store float 1.0, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = getelementptr i32, ptr %rounds, i32 %block
  %count = load i32, ptr %at
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %after
one:
  store float 2.0, ptr %x
  br label %after
after:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  %any = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %first)
  %again = and i1 %more, %any
  br i1 %again, label %loop, label %end
end:
  ret void
}

; Where a scope of restricted arrays begins, nothing is written.
; CHECK-LABEL: define void @adgen_body_restricted(
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK-NOT:     adgen_rule_turn
; CHECK:         ret void
define void @adgen_body_restricted(ptr %x, ptr %rounds) "adgen-shared" {
  call void @llvm.experimental.noalias.scope.decl(metadata !91)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = getelementptr float, ptr %x, i32 %t
  %at = getelementptr i32, ptr %rounds, i32 %block
  %count = load i32, ptr %at, !noalias !91
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %own
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Where ways meet again that bring the same, all threads go on together: here it is known to all whether they have left the loop.
; CHECK-LABEL: define void @adgen_body_left(
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK:         call i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all
; CHECK-NOT:     adgen_rule_turn
; CHECK:         ret void
define void @adgen_body_left(ptr %x, i32 %rounds) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %after ]
  %done = icmp ult i32 %t, %i
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %done)
  %all = icmp eq i32 %count, 256
  br i1 %all, label %met, label %some
some:
  br i1 %done, label %met, label %work
work:
  store float 1.0, ptr %x
  br label %met
met:
  %leaves = phi i1 [ true, %loop ], [ false, %some ], [ false, %work ]
  br i1 %leaves, label %end, label %after
after:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %rounds
  br i1 %more, label %loop, label %end
end:
  ret void
}

; A branch inside another: where its ways meet again, some threads are missing still.
; CHECK-LABEL: define void @adgen_body_inside(
; CHECK:         call void @adgen_rule_counted_barrier(ptr %x)
define void @adgen_body_inside(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %fewer = icmp ult i32 %t, 3
  %few = icmp ult i32 %t, 7
  br i1 %few, label %inside, label %end
inside:
  br i1 %fewer, label %one, label %two
one:
  store float 1.0, ptr %x
  br label %again
two:
  store float 2.0, ptr %x
  br label %again
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
}

; Without differentiated memory there is no reverse sweep, and nothing that threads hand each other has a derivative.
; CHECK-LABEL: define void @adgen_body_constant(
; CHECK-NEXT:    call void @adgen_hidden_llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    call void @adgen_hidden_llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
; CHECK-NEXT:    %v = call float @adgen_hidden_llvm.nvvm.shfl.sync.down.f32(
define void @adgen_body_constant(i32 %n) "adgen-shared" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
  %v = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float 1.0, i32 1, i32 31)
  ret void
}

; A shared array that is a constant is no anchor.
; CHECK-LABEL: define void @adgen_body_table(
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
define void @adgen_body_table(ptr %x, i32 %n, ptr %table, ptr %tile) "adgen-shared"="table:tile" "adgen-shared-constants"="0" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; The kernel itself keeps its barriers.
; CHECK-LABEL: define ptx_kernel void @duplicated(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
define ptx_kernel void @duplicated(i32 %n, ptr %x) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Volatile shared memory is exchanged without barriers: lanes meet where one may depend on the other, in either sweep.
; CHECK-LABEL: define void @adgen_body_volatile(
; CHECK-NEXT:    call void @adgen_rule_lockstep(ptr %tile)
; CHECK-NEXT:    %a = load volatile float, ptr %tile
; CHECK-NEXT:    %b = load volatile float, ptr %next
; CHECK-NEXT:    %sum = fadd float %a, %b
; CHECK-NEXT:    call void @adgen_rule_lockstep(ptr %tile)
; CHECK-NEXT:    store volatile float %sum, ptr %tile
; CHECK-NEXT:    %own = load volatile float, ptr %x
; CHECK-NEXT:    call void @adgen_rule_lockstep(ptr %tile)
; CHECK-NEXT:    ret void
define void @adgen_body_volatile(ptr %x, ptr %next, ptr %tile) "adgen-shared"="tile" {
  %a = load volatile float, ptr %tile
  %b = load volatile float, ptr %next
  %sum = fadd float %a, %b
  store volatile float %sum, ptr %tile
  %own = load volatile float, ptr %x
  ret void
}

; Values travel through memory, which has a shadow. What each thread sends and receives is its own.
; CHECK-LABEL: define void @adgen_body_warp(
; CHECK-NEXT:    [[RECEIVED64:%.*]] = alloca double
; CHECK-NEXT:    [[SENT64:%.*]] = alloca double
; CHECK-NEXT:    %received = alloca float
; CHECK-NEXT:    %sent = alloca float
; CHECK-NEXT:    %v = load float, ptr %x
; CHECK-NEXT:    store float %v, ptr %sent
; CHECK-NEXT:    call void @adgen_rule_shfl_down_f32(ptr %received, ptr %sent, i32 -1, i32 1, i32 31) [[CONVERGENT]]
; CHECK-NEXT:    [[DOWN:%.*]] = load float, ptr %received
; CHECK-NEXT:    store float [[DOWN]], ptr %x
; A shuffle of double is whole until here; its width becomes the operand of the instruction.
; CHECK-NEXT:    %w = fpext float %v to double
; CHECK-NEXT:    [[SEGMENT:%.*]] = sub i32 32, %width
; CHECK-NEXT:    [[HIGH:%.*]] = shl i32 [[SEGMENT]], 8
; CHECK-NEXT:    [[CONTROL:%.*]] = or i32 [[HIGH]], 31
; CHECK-NEXT:    store double %w, ptr [[SENT64]]
; CHECK-NEXT:    call void @adgen_rule_shfl_bfly_f64(ptr [[RECEIVED64]], ptr [[SENT64]], i32 -1, i32 4, i32 [[CONTROL]])
; Integers, votes, matches and counts carry no derivative; a barrier that counts is still a barrier.
; CHECK:         %i = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %width, i32 0, i32 31)
; CHECK-NEXT:    %vote = call i1 @adgen_hidden_llvm.nvvm.vote.any.sync(i32 -1, i1 true)
; CHECK-NEXT:    %match = call i32 @adgen_hidden_llvm.nvvm.match.any.sync.i32(i32 -1, i32 %i)
; CHECK-NEXT:    %active = call i32 @adgen_hidden_llvm.nvvm.activemask()
; CHECK-NEXT:    %redux = call i32 @adgen_hidden_llvm.nvvm.redux.sync.add(i32 %i, i32 -1)
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %x)
; CHECK-NEXT:    %count = call i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)
define void @adgen_body_warp(ptr %x, i32 %width) "adgen-shared" {
  %v = load float, ptr %x
  %down = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %v, i32 1, i32 31)
  store float %down, ptr %x
  %w = fpext float %v to double
  %xor = call double @_Z15__shfl_xor_syncjdii(i32 -1, double %w, i32 4, i32 %width)
  %i = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %width, i32 0, i32 31)
  %vote = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)
  %match = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %i)
  %active = call i32 @llvm.nvvm.activemask()
  %redux = call i32 @llvm.nvvm.redux.sync.add(i32 %i, i32 -1)
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)
  ret void
}

; Bits of floating point in an integer are shuffled as what they are, also where memory alone tells. What is only compared is an integer,
; both halves of a double are a double, and a part of a number is not let through: its derivative would be lost.
; CHECK-LABEL: define void @adgen_body_bits(
; CHECK:         call void @adgen_rule_shfl_idx_f32(
; CHECK:         call void @adgen_rule_shfl_idx_f16x2(
; CHECK:         call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %pair,
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %low,
; CHECK:         call void @adgen_rule_shfl_idx_f64(
; CHECK:         call void @adgen_rule_shfl_idx_f64(
; CHECK-NOT:     call i32 @llvm.nvvm.shfl
; CHECK:         call { i32, i1 } @adgen_hidden_swap_32_0(ptr %lock, i32 0, i32 1)
define void @adgen_body_bits(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="2[0f2]" %h, ptr "adgen-layout"="4[0i4]" %lock, ptr %y) "adgen-shared" {
  %local = alloca i32
  %word = load i32, ptr %x
  store i32 %word, ptr %local
  %again = load i32, ptr %local
  %moved = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %again, i32 0, i32 31)
  store i32 %moved, ptr %x
  %pair = load i32, ptr %h
  %pairs = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %pair, i32 0, i32 31)
  store i32 %pairs, ptr %h
  %compared = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %pair, i32 1, i32 31)
  %equal = icmp eq i32 %compared, %pair
  %double = load double, ptr %y
  %bits = bitcast double %double to i64
  %low = trunc i64 %bits to i32
  %half = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %low, i32 0, i32 31)
  store i32 %half, ptr %x
  %first = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %low, i32 4, i32 31)
  %shifted = lshr i64 %bits, 32
  %high = trunc i64 %shifted to i32
  %second = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %high, i32 4, i32 31)
  %words = bitcast i64 %bits to <2 x i32>
  %word.0 = extractelement <2 x i32> %words, i64 0
  %word.1 = extractelement <2 x i32> %words, i64 1
  %third = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %word.0, i32 5, i32 31)
  %fourth = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %word.1, i32 5, i32 31)
  %swap = cmpxchg ptr %lock, i32 0, i32 1 seq_cst seq_cst
  ret void
}
; A half that is sent in both parts of a word is shuffled with itself, a bfloat16 as a float.
; CHECK-LABEL: define void @adgen_body_of_16_bits(
; CHECK:         call void @adgen_rule_shfl_down_f16x2(
; CHECK:         [[WIDE:%.*]] = fpext bfloat {{%.*}} to float
; CHECK-NEXT:    store float [[WIDE]], ptr [[SENT:%.*]], align 4
; CHECK-NEXT:    call void @adgen_rule_shfl_down_f32(ptr [[RECEIVED:%.*]], ptr [[SENT]],
; CHECK-NEXT:    [[MOVED:%.*]] = load float, ptr [[RECEIVED]]
; CHECK-NEXT:    fptrunc float [[MOVED]] to bfloat
; CHECK-NOT:     call
; CHECK:         ret void
define void @adgen_body_of_16_bits(ptr "adgen-layout"="2[0f2]" %h, ptr "adgen-layout"="2[0b2]" %b) "adgen-shared" {
  %half = load i16, ptr %h
  %half.0 = insertelement <2 x i16> poison, i16 %half, i64 0
  %half.1 = insertelement <2 x i16> %half.0, i16 %half, i64 1
  %half.word = bitcast <2 x i16> %half.1 to i32
  %half.moved = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %half.word, i32 1, i32 31)
  %half.pair = bitcast i32 %half.moved to <2 x i16>
  %half.received = extractelement <2 x i16> %half.pair, i64 0
  store i16 %half.received, ptr %h
  %brain = load i16, ptr %b
  %brain.0 = insertelement <2 x i16> poison, i16 %brain, i64 0
  %brain.1 = insertelement <2 x i16> %brain.0, i16 %brain, i64 1
  %brain.word = bitcast <2 x i16> %brain.1 to i32
  %brain.moved = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %brain.word, i32 1, i32 31)
  %brain.pair = bitcast i32 %brain.moved to <2 x i16>
  %brain.received = extractelement <2 x i16> %brain.pair, i64 0
  store i16 %brain.received, ptr %b
  ret void
}

; What counts has no derivative, whatever it counts in.
; CHECK-LABEL: define void @adgen_body_counts(
; CHECK:         atomicrmw add ptr %tile, i32 1 monotonic, align 4, !enzyme_inactive_val [[NOTHING:![0-9]+]], !enzyme_inactive_inst [[NOTHING]]
define void @adgen_body_counts(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %old = atomicrmw add ptr %tile, i32 1 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

declare double @_Z15__shfl_xor_syncjdii(i32, double, i32, i32)

; CHECK-DAG: declare void @adgen_rule_shfl_down_f32_reverse(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)
; CHECK-DAG: declare "enzyme_type"="{[-1]:Integer}" i1 @adgen_hidden_llvm.nvvm.vote.any.sync(i32, i1) [[HIDDEN:#[0-9]+]]
; CHECK-DAG: attributes [[HIDDEN]] = { convergent nofree nounwind memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" }
; CHECK-DAG: declare !enzyme_augment [[BA:![0-9]+]] !enzyme_gradient [[BR:![0-9]+]] void @adgen_rule_barrier(ptr) [[DECLARED:#[0-9]+]]
; CHECK-DAG: declare void @adgen_rule_barrier_reverse(ptr, ptr)
; CHECK-DAG: declare !enzyme_augment [[WA:![0-9]+]] !enzyme_gradient [[WR:![0-9]+]] void @adgen_rule_warp_barrier(ptr, i32)
; Every argument of a derivative comes twice: a pointer with its shadow, an integer with itself.
; CHECK-DAG: declare void @adgen_rule_warp_barrier_reverse(ptr, ptr, i32, i32)
; CHECK-DAG: attributes [[DECLARED]] = { convergent nounwind }
; CHECK-DAG: attributes [[CONVERGENT]] = { convergent }
; CHECK-DAG: [[BA]] = !{ptr @adgen_rule_barrier_augmented}
; CHECK-DAG: [[BR]] = !{ptr @adgen_rule_barrier_reverse}
; CHECK-DAG: [[WA]] = !{ptr @adgen_rule_warp_barrier_augmented}
; CHECK-DAG: [[WR]] = !{ptr @adgen_rule_warp_barrier_reverse}

!90 = distinct !{!90}
!91 = !{!92}
!92 = distinct !{!92, !90}
