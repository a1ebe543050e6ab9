; Lanes that exchange maxima with the lane that one bit tells apart both take the number of the lower lane where two are equal. Only the choice
; of the number is settled: what else asks the comparison, such as its index, is as the user wrote it. Not where the comparison is of other
; numbers, or asks whether they are equal.
;
; RUN: %opt -passes=adgen-settle-ties,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare double @_Z15__shfl_xor_syncjdii(i32, double, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)
declare <2 x half> @llvm.maxnum.v2f16(<2 x half>, <2 x half>)

; CHECK-LABEL: define float @adgen_body_largest(
; CHECK:         %less = fcmp olt float %m, %other
; CHECK:         [[LANE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    [[BESIDE:%.*]] = xor i32 [[LANE]], %d
; CHECK-NEXT:    [[LOWER:%.*]] = icmp ult i32 [[LANE]], [[BESIDE]]
; CHECK-NEXT:    [[WITH:%.*]] = fcmp ole float %m, %other
; CHECK-NEXT:    [[WITHOUT:%.*]] = fcmp olt float %m, %other
; CHECK-NEXT:    [[TAKES:%.*]] = select i1 [[LOWER]], i1 [[WITHOUT]], i1 [[WITH]]
; CHECK-NEXT:    %largest = select i1 [[TAKES]], float %other, float %m
; CHECK-NEXT:    %index = select i1 %less, i32 1, i32 0
define float @adgen_body_largest(float %m, i32 %d, ptr %at) {
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %m, i32 %d, i32 31)
  %less = fcmp olt float %m, %other
  %largest = select i1 %less, float %other, float %m
  %index = select i1 %less, i32 1, i32 0
  store i32 %index, ptr %at
  ret float %largest
}

; As fmax has it, of doubles.
; CHECK-LABEL: define double @adgen_body_fmax(
; CHECK:         %more = fcmp oge double %m, %other
; CHECK:         [[WITH:%.*]] = fcmp oge double %m, %other
; CHECK-NEXT:    [[WITHOUT:%.*]] = fcmp ogt double %m, %other
; CHECK:         [[TAKES:%.*]] = select i1 {{.*}}, i1 [[WITH]], i1 [[WITHOUT]]
; CHECK-NEXT:    [[EITHER:%.*]] = select i1 [[TAKES]], i1 true, i1 %none
; CHECK-NEXT:    %largest = select i1 [[EITHER]], double %m, double %other
define double @adgen_body_fmax(double %m) {
  %other = call double @_Z15__shfl_xor_syncjdii(i32 -1, double %m, i32 4, i32 32)
  %more = fcmp oge double %m, %other
  %none = fcmp uno double %other, %other
  %either = or i1 %more, %none
  %largest = select i1 %either, double %m, double %other
  ret double %largest
}

; CHECK-LABEL: define float @adgen_body_others(
; CHECK-NOT:     laneid
; CHECK:         ret float
define float @adgen_body_others(float %m, float %x) {
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %m, i32 1, i32 31)
  %positive = fcmp ogt float %x, 0.0
  %one = select i1 %positive, float %m, float %other
  %same = fcmp oeq float %m, %other
  %two = select i1 %same, float %m, float %other
  %sum = fadd float %one, %two
  ret float %sum
}

; What is merged with the number, and the smaller of the two, fit the number as each lane has it.
; CHECK-LABEL: define float @adgen_body_merged(
; CHECK-NOT:     laneid
; CHECK:         ret float
define float @adgen_body_merged(float %m, float %s) {
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %m, i32 1, i32 31)
  %less = fcmp olt float %m, %other
  %most = select i1 %less, float %other, float %m
  %least = select i1 %less, float %m, float %other
  %apart = fsub float %least, %most
  ret float %apart
}

; What comes with it from the lane whose number is taken does no harm.
; CHECK-LABEL: define float @adgen_body_beside(
; CHECK:         laneid
; CHECK:         ret float
define float @adgen_body_beside(float %m, float %s) {
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %m, i32 1, i32 31)
  %beside = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s, i32 1, i32 31)
  %less = fcmp olt float %m, %other
  %most = select i1 %less, float %other, float %m
  %with = select i1 %less, float %beside, float %s
  %sum = fadd float %most, %with
  ret float %sum
}

; Halves, also two at once, whose bits are exchanged.
; CHECK-LABEL: define <2 x half> @adgen_body_halves(
; CHECK:         [[MOST:%.*]] = call <2 x half> @llvm.maxnum.v2f16(<2 x half> %own, <2 x half> %others)
; CHECK:         [[LOWER:%.*]] = icmp ult i32
; CHECK-NEXT:    [[ONE:%.*]] = select i1 [[LOWER]], <2 x half> %own, <2 x half> %others
; CHECK-NEXT:    [[EQUAL:%.*]] = fcmp oeq <2 x half> %own, %others
; CHECK-NEXT:    [[SETTLED:%.*]] = select <2 x i1> [[EQUAL]], <2 x half> [[ONE]], <2 x half> [[MOST]]
; CHECK-NEXT:    ret <2 x half> [[SETTLED]]
define <2 x half> @adgen_body_halves(i32 %bits) {
  %exchanged = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits, i32 4, i32 31)
  %own = bitcast i32 %bits to <2 x half>
  %others = bitcast i32 %exchanged to <2 x half>
  %most = call <2 x half> @llvm.maxnum.v2f16(<2 x half> %own, <2 x half> %others)
  ret <2 x half> %most
}

; A lane that is told by its number; another lane than by bits is not known to choose between the same two.
; CHECK-LABEL: define float @adgen_body_numbered(
; CHECK:         [[LANE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    [[BESIDE:%.*]] = and i32 %beside, 31
; CHECK-NEXT:    icmp ult i32 [[LANE]], [[BESIDE]]
; CHECK-NOT:     laneid
; CHECK:         ret float
define float @adgen_body_numbered(float %m, i32 %lane) {
  %beside = xor i32 %lane, 2
  %other = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %m, i32 %beside, i32 31)
  %less = fcmp olt float %m, %other
  %most = select i1 %less, float %other, float %m
  %next = add i32 %lane, 1
  %third = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %most, i32 %next, i32 31)
  %below = fcmp olt float %most, %third
  %last = select i1 %below, float %third, float %most
  ret float %last
}

; By shared memory: the one with the lower index.
; CHECK-LABEL: define float @adgen_body_shared(
; CHECK:         [[LOWER:%.*]] = icmp ult i32 %t, %beside
; CHECK:         select i1 [[LOWER]], i1
; CHECK:         ret float
define float @adgen_body_shared(ptr %shared, float %m, i32 %t, i32 %d) {
  %place = sext i32 %t to i64
  %at = getelementptr float, ptr %shared, i64 %place
  store float %m, ptr %at
  %beside = xor i32 %t, %d
  %there = sext i32 %beside to i64
  %from = getelementptr float, ptr %shared, i64 %there
  %other = load float, ptr %from
  %less = fcmp olt float %m, %other
  %most = select i1 %less, float %other, float %m
  ret float %most
}

; Each begins with its own of the numbers that all read: it takes the last one. Not where it is none of them.
; CHECK-LABEL: define float @adgen_body_among(
; CHECK:         %less = fcmp olt float %most, %other
; CHECK:         [[WITH:%.*]] = fcmp ole float %most, %other
; CHECK:         [[TAKES:%.*]] = select i1 false, i1 {{.*}}, i1 [[WITH]]
; CHECK-NEXT:    select i1 [[TAKES]], float %other, float %most
; CHECK-NOT:     fcmp ole
; CHECK:         ret float
define float @adgen_body_among(ptr %shared, ptr %x, i64 %t, i64 %n) {
entry:
  %own.at = getelementptr float, ptr %x, i64 %t
  %own = load float, ptr %own.at
  %at = getelementptr float, ptr %shared, i64 %t
  store float %own, ptr %at
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %most = phi float [ %own, %entry ], [ %larger, %loop ]
  %lone = phi float [ 0.0, %entry ], [ %lone.larger, %loop ]
  %from = getelementptr float, ptr %shared, i64 %k
  %other = load float, ptr %from
  %less = fcmp olt float %most, %other
  %larger = select i1 %less, float %other, float %most
  %lone.less = fcmp olt float %lone, %other
  %lone.larger = select i1 %lone.less, float %other, float %lone
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  %sum = fadd float %larger, %lone.larger
  ret float %sum
}

; Where the smaller one is taken as well each thread keeps its own.
; CHECK-LABEL: define half @adgen_body_sorted(
; CHECK:         [[LEAST:%.*]] = call half @llvm.minnum.f16(half %own, half %other)
; CHECK-NEXT:    [[EQUAL:%.*]] = fcmp oeq half %own, %other
; CHECK-NEXT:    select i1 [[EQUAL]], half %own, half [[LEAST]]
; CHECK:         [[MOST:%.*]] = call half @llvm.maxnum.f16(half %own, half %other)
; CHECK-NEXT:    [[SAME:%.*]] = fcmp oeq half %own, %other
; CHECK-NEXT:    select i1 [[SAME]], half %own, half [[MOST]]
define half @adgen_body_sorted(half %own, i1 %less) {
  %bits = bitcast half %own to i16
  %word = zext i16 %bits to i32
  %exchanged = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %word, i32 4, i32 31)
  %short = trunc i32 %exchanged to i16
  %other = bitcast i16 %short to half
  %least = call half @llvm.minnum.f16(half %own, half %other)
  %most = call half @llvm.maxnum.f16(half %own, half %other)
  %taken = select i1 %less, half %least, half %most
  ret half %taken
}

; Of two that are sorted the lower lane's counts as the larger one, where the comparison is asked which one is kept.
; CHECK-LABEL: define float @adgen_body_sorts(
; CHECK:         [[WITH:%.*]] = fcmp oge float %v, %other
; CHECK-NEXT:    [[WITHOUT:%.*]] = fcmp ogt float %v, %other
; CHECK-NEXT:    [[MORE:%.*]] = select i1 {{.*}}, i1 [[WITH]], i1 [[WITHOUT]]
; CHECK-NEXT:    [[WIDE:%.*]] = zext i1 [[MORE]] to i32
; CHECK-NEXT:    [[TAKES:%.*]] = icmp eq i32 [[WIDE]], %small.wide
; CHECK-NEXT:    %kept = select i1 [[TAKES]], float %other, float %v
define float @adgen_body_sorts(float %v, i32 %d, i1 %small) {
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 %d, i32 31)
  %small.wide = zext i1 %small to i32
  %more = fcmp ogt float %v, %other
  %wide = zext i1 %more to i32
  %takes = icmp eq i32 %wide, %small.wide
  %kept = select i1 %takes, float %other, float %v
  ret float %kept
}

; What the thread at the other end has left; not what is some way behind the own place.
; CHECK-LABEL: define float @adgen_body_from_end(
; CHECK:         icmp ult i32 %i, %end
; CHECK-NOT:     icmp ult
; CHECK:         ret float
define float @adgen_body_from_end(float %m, ptr addrspace(3) %s) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr float, ptr addrspace(3) %s, i32 %i
  store float %m, ptr addrspace(3) %own
  %end = sub i32 63, %i
  %at = getelementptr float, ptr addrspace(3) %s, i32 %end
  %other = load float, ptr addrspace(3) %at
  %less = fcmp olt float %m, %other
  %largest = select i1 %less, float %other, float %m
  %before = sub i32 %i, 1
  %beside = getelementptr float, ptr addrspace(3) %s, i32 %before
  %previous = load float, ptr addrspace(3) %beside
  %again = fcmp olt float %m, %previous
  %larger = select i1 %again, float %previous, float %m
  %sum = fadd float %largest, %larger
  ret float %sum
}

; Of the bits of halves, which are compared as numbers.
; CHECK-LABEL: define i16 @adgen_body_bits(
; CHECK:         [[MORE:%.*]] = select i1 {{.*}}, i1 {{.*}}, i1 {{.*}}
; CHECK-NEXT:    %largest = select i1 [[MORE]], i16 %own, i16 %other
define i16 @adgen_body_bits(i16 %own, i32 %word, i32 %d) {
  %received = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %word, i32 %d, i32 31)
  %halves = bitcast i32 %received to <2 x i16>
  %other = extractelement <2 x i16> %halves, i64 0
  %a = bitcast i16 %own to half
  %b = bitcast i16 %other to half
  %more = fcmp ogt half %a, %b
  %largest = select i1 %more, i16 %own, i16 %other
  ret i16 %largest
}
