; Flags that a loop of few iterations keeps are the bits of a number, and take neither heap nor tape. Few bytes of other
; kinds lie in the thread's own memory. More of them, and a cache for each iteration of another loop, stay caches.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_few(ptr %x, i32 %n)
; CHECK-NOT:     malloc
; CHECK:       {{^}}loop:
; CHECK-NEXT:    %[[BITS:.*]] = phi i32 [ 0, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK:         %[[AT:.*]] = trunc i64 %i to i32
; CHECK-NEXT:    %[[BIT:.*]] = shl i32 1, %[[AT]]
; CHECK-NEXT:    %[[NOT:.*]] = xor i32 %[[BIT]], -1
; CHECK-NEXT:    %[[OTHERS:.*]] = and i32 %[[BITS]], %[[NOT]]
; CHECK-NEXT:    %[[FLAG:.*]] = zext i1 %{{.*}} to i32
; CHECK-NEXT:    %[[MINE:.*]] = shl i32 %[[FLAG]], %[[AT]]
; CHECK-NEXT:    %[[NEXT]] = or i32 %[[OTHERS]], %[[MINE]]
; CHECK:       {{^}}invertloop:
; CHECK:         %[[DOWN:.*]] = lshr i32 %[[NEXT]], %{{.*}}
; CHECK-NEXT:    trunc i32 %[[DOWN]] to i1
; CHECK-NOT:     call void @free
define void @adgen_body_few(ptr %x, i32 %n) {
  ret void
}
define void @adgen_gradient_few(ptr %x, i32 %n) {
entry:
  %bound = call i32 @llvm.umin.i32(i32 %n, i32 31)
  %last = zext i32 %bound to i64
  %count = add i64 %last, 1
  %flags = call ptr @malloc(i64 %count), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %at
  %flag = fcmp olt float %value, 0.0
  %place = getelementptr inbounds i1, ptr %flags, i64 %i
  store i1 %flag, ptr %place
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %middle, label %loop
middle:
  %again = phi ptr [ %flags, %loop ]
  br label %invertloop
invertloop:
  %j = phi i64 [ %last, %middle ], [ %down, %invertloop ]
  %kept = getelementptr inbounds i1, ptr %again, i64 %j
  %was = load i1, ptr %kept
  %adjoint = select i1 %was, float 1.0, float 2.0
  %to = getelementptr float, ptr %x, i64 %j
  store float %adjoint, ptr %to
  %down = add i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %invertloop
end:
  call void @free(ptr %again), !enzyme_cache_free !0
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_bytes(ptr %x)
; CHECK-NOT:     malloc
; CHECK:         %[[BYTES:.*]] = alloca [8 x i8], align 8
; CHECK-NEXT:    getelementptr inbounds i8, ptr %[[BYTES]], i64 3
; CHECK:         store i8 7
; CHECK-NOT:     call void @free
define void @adgen_body_bytes(ptr %x) {
  ret void
}
define void @adgen_gradient_bytes(ptr %x) {
entry:
  %bytes = call ptr @malloc(i64 8), !enzyme_cache_alloc !0
  %place = getelementptr inbounds i8, ptr %bytes, i64 3
  store i8 7, ptr %place
  br label %invert
invert:
  %was = load i8, ptr %place
  store i8 %was, ptr %x
  call void @free(ptr %bytes), !enzyme_cache_free !0
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_many(
; CHECK:         store i1
define void @adgen_body_many(ptr %x, i64 %count) {
  ret void
}
define void @adgen_gradient_many(ptr %x, i64 %count) {
entry:
  %flags = call ptr @malloc(i64 %count), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr inbounds i1, ptr %flags, i64 %i
  store i1 true, ptr %place
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %end, label %loop
end:
  call void @free(ptr %flags), !enzyme_cache_free !0
  ret void
}

; All that is local has at most 128 bytes: of three caches the last one is none of it.
; CHECK-LABEL: define void @adgen_gradient_three(ptr %x, i64 %0,
; CHECK-COUNT-2: alloca [64 x i8]
; CHECK-NOT:     alloca [64 x i8]
define void @adgen_body_three(ptr %x) {
  ret void
}
define void @adgen_gradient_three(ptr %x) {
entry:
  %first = call ptr @malloc(i64 64), !enzyme_cache_alloc !0
  %second = call ptr @malloc(i64 64), !enzyme_cache_alloc !0
  %third = call ptr @malloc(i64 64), !enzyme_cache_alloc !0
  %value = load double, ptr %x
  store double %value, ptr %first
  store double %value, ptr %second
  store double %value, ptr %third
  br label %invert
invert:
  %a = load double, ptr %first
  %b = load double, ptr %second
  %c = load double, ptr %third
  %ab = fmul double %a, %b
  %abc = fmul double %ab, %c
  store double %abc, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_inside(
; CHECK:         store i1
define void @adgen_body_inside(ptr %x, i64 %n) {
  ret void
}
define void @adgen_gradient_inside(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %flags = call ptr @malloc(i64 8), !enzyme_cache_alloc !0
  %place = getelementptr inbounds i1, ptr %flags, i64 2
  store i1 true, ptr %place
  call void @free(ptr %flags), !enzyme_cache_free !0
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

!0 = !{}
