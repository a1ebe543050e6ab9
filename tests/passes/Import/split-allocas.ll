; A local struct of numbers and counts with an array at a computed index becomes a variable for each member: addresses by the struct's
; type or by its first member's, copies and fills of the whole, loads and stores of the first member.
;
; RUN: %opt -passes=adgen-split-allocas,verify -S %s | %filecheck %s

%Stack = type { [4 x double], i32 }
%Count = type { i32, [4 x double] }
%Same = type { [4 x double], double }

; CHECK-LABEL: define double @numbers_first(
; CHECK:         %[[NUMBERS:.*]] = alloca [4 x double], align 8
; CHECK:         %[[COUNT:.*]] = alloca i32, align 8
; CHECK-NOT:     alloca
; CHECK:         getelementptr inbounds [4 x double], ptr %[[NUMBERS]], i32 0, i64 %i
; CHECK:         getelementptr inbounds [4 x double], ptr %[[NUMBERS]], i64 0, i64 %j
; CHECK:         getelementptr inbounds double, ptr %[[NUMBERS]], i64 %j
; CHECK:         store i32 1, ptr %[[COUNT]]
define double @numbers_first(i64 %i, i64 %j) {
  %s = alloca %Stack, align 8
  call void @llvm.lifetime.start.p0(ptr %s)
  %typed = getelementptr inbounds %Stack, ptr %s, i32 0, i32 0, i64 %i
  store double 1.0, ptr %typed
  %array = getelementptr inbounds [4 x double], ptr %s, i64 0, i64 %j
  %v = load double, ptr %array
  %element = getelementptr inbounds double, ptr %s, i64 %j
  store double %v, ptr %element
  %count = getelementptr inbounds %Stack, ptr %s, i32 0, i32 1
  store i32 1, ptr %count
  call void @llvm.lifetime.end.p0(ptr %s)
  ret double %v
}

; CHECK-LABEL: define double @count_first(
; CHECK:         %[[COUNT:.*]] = alloca i32, align 8
; CHECK:         %[[NUMBERS:.*]] = alloca [4 x double], align 8
; CHECK:         store i32 0, ptr %[[COUNT]]
; CHECK:         %[[FROM:.*]] = getelementptr inbounds nuw %Count, ptr %other, i32 0, i32 0
; CHECK:         %[[N:.*]] = load i32, ptr %[[FROM]], align 8
; CHECK:         store i32 %[[N]], ptr %[[COUNT]], align 8
; CHECK:         call void @llvm.memmove.{{.*}}(ptr align 8 %[[NUMBERS]], ptr align 8 %{{.*}}, i64 32, i1 false)
; CHECK:         call void @llvm.memset.{{.*}}(ptr align 8 %[[NUMBERS]], i8 0, i64 32, i1 false)
define double @count_first(ptr %other, i64 %i) {
  %s = alloca %Count, align 8
  store i32 0, ptr %s
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %s, ptr align 8 %other, i64 40, i1 false)
  %at = getelementptr inbounds %Count, ptr %s, i32 0, i32 1, i64 %i
  %v = load double, ptr %at
  call void @llvm.memset.p0.i64(ptr align 8 %s, i8 0, i64 40, i1 false)
  ret double %v
}

; Structs stay whole that hold nothing but numbers, whose arrays are indexed by constants, or whose address goes elsewhere.
; CHECK-LABEL: define void @whole(
; CHECK:         alloca %Same
; CHECK:         alloca %Stack
; CHECK:         alloca %Stack
define void @whole(i64 %i) {
  %same = alloca %Same
  %constant = alloca %Stack
  %escapes = alloca %Stack
  %a = getelementptr inbounds %Same, ptr %same, i32 0, i32 0, i64 %i
  store double 1.0, ptr %a
  %b = getelementptr inbounds %Stack, ptr %constant, i32 0, i32 0, i64 2
  store double 1.0, ptr %b
  %c = getelementptr inbounds %Stack, ptr %escapes, i32 0, i32 0, i64 %i
  store double 1.0, ptr %c
  call void @elsewhere(ptr %escapes)
  ret void
}

; A stack of indices beside its height.
%Indices = type { [8 x i32], i32 }
; CHECK-LABEL: define i32 @indices(
; CHECK:         alloca [8 x i32]
; CHECK:         alloca i32
; CHECK-NOT:     alloca
define i32 @indices(i64 %i) {
  %s = alloca %Indices
  %at = getelementptr inbounds %Indices, ptr %s, i32 0, i32 0, i64 %i
  %v = load i32, ptr %at
  %top = getelementptr inbounds %Indices, ptr %s, i32 0, i32 1
  store i32 %v, ptr %top
  ret i32 %v
}

; (&p.x)[axis] goes from one member to the next.
%Particle = type { float, float, float, i32 }
%Inner = type { %Particle, [4 x float] }
; CHECK-LABEL: define float @axes(
; CHECK:         alloca %Particle
; CHECK:         alloca %Particle
; CHECK:         alloca %Inner
; CHECK-NOT:     alloca
define float @axes(i64 %axis, i1 %c) {
  %p = alloca %Particle
  %q = alloca %Particle
  %r = alloca %Inner
  %x = getelementptr inbounds %Particle, ptr %p, i32 0, i32 0
  %at = getelementptr inbounds float, ptr %x, i64 %axis
  %v = load float, ptr %at
  %first = getelementptr inbounds float, ptr %q, i64 %axis
  %w = load float, ptr %first
  %y = getelementptr inbounds %Inner, ptr %r, i32 0, i32 0, i32 1
  %z = getelementptr inbounds %Inner, ptr %r, i32 0, i32 0, i32 2
  %one = select i1 %c, ptr %y, ptr %z
  %next = getelementptr inbounds float, ptr %one, i64 1
  %u = load float, ptr %next
  %array = getelementptr inbounds %Inner, ptr %r, i32 0, i32 1, i64 %axis
  store float %u, ptr %array
  %sum = fadd float %v, %w
  ret float %sum
}

declare void @elsewhere(ptr)

; What is copied from one of two variables of 16 bits is read and stored.
; CHECK-LABEL: define void @one_of_two(
; CHECK:         %from = select i1 %c, ptr %a, ptr %b
; CHECK-NEXT:    [[WORD:%.*]] = load i16, ptr %from, align 2
; CHECK-NEXT:    store i16 [[WORD]], ptr %a, align 2
; CHECK-NEXT:    call void @llvm.memcpy
; CHECK-NEXT:    ret void
define void @one_of_two(i1 %c, ptr %to) {
  %a = alloca { i16 }
  %b = alloca { i16 }
  %from = select i1 %c, ptr %a, ptr %b
  call void @llvm.memcpy.p0.p0.i64(ptr align 2 %a, ptr align 2 %from, i64 2, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 2 %to, ptr align 2 %a, i64 2, i1 false)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
