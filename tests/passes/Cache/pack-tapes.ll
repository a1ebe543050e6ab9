; What a forward sweep keeps for its reverse sweep: arrays that this only copies are read where they are, those that nobody reads are gone, and the rest
; lies in one block. A recursion fetches what it comes to next.
;
; RUN: %opt -passes='adgen-pack-tapes,verify' -S %s | %filecheck %s

declare noalias ptr @adgen_large_alloc(i64)
declare void @adgen_large_free(ptr)
declare noalias ptr @adgen_kept_alloc(i64)
declare void @adgen_kept_free(ptr)
declare ptr @adgen_kept_mark()
declare void @adgen_kept_release(ptr)

; CHECK-LABEL: define internal ptr @augmented_f(
; CHECK:       some:
; CHECK:         %[[BYTES:.*]] = add i64 %{{.*}}, %{{.*}}
; CHECK-NEXT:    %a = call ptr @adgen_large_alloc(i64 %[[BYTES]])
; CHECK-NOT:     alloc
; CHECK:         %b = getelementptr inbounds i8, ptr %a, i64
; CHECK:         store double %v
; CHECK-NOT:     store double %w
define internal ptr @augmented_f(ptr %x, i64 %n) {
entry:
  %tape = call ptr @adgen_large_alloc(i64 32)
  store i64 %n, ptr %tape
  %any = icmp ugt i64 %n, 1
  br i1 %any, label %some, label %end
some:
  %bytes = shl i64 %n, 3
  %less = sub i64 %n, 1
  %a = call ptr @adgen_large_alloc(i64 %bytes)
  %at.a = getelementptr i8, ptr %tape, i64 8
  store ptr %a, ptr %at.a
  %b = call ptr @adgen_large_alloc(i64 %bytes)
  %at.b = getelementptr i8, ptr %tape, i64 16
  store ptr %b, ptr %at.b
  %c = call ptr @adgen_large_alloc(i64 %bytes)
  %at.c = getelementptr i8, ptr %tape, i64 24
  store ptr %c, ptr %at.c
  br label %loop
loop:
  %i = phi i64 [ 0, %some ], [ %next, %loop ]
  %inner = call ptr @augmented_f(ptr %x, i64 %less)
  %from = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %from
  %w = fmul double %v, %v
  %to.a = getelementptr double, ptr %a, i64 %i
  store double %v, ptr %to.a
  %to.b = getelementptr ptr, ptr %b, i64 %i
  store ptr %inner, ptr %to.b
  %to.c = getelementptr double, ptr %c, i64 %i
  store double %w, ptr %to.c
  %next = add nuw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %end, label %loop
end:
  ret ptr %tape
}

; CHECK-LABEL: define internal void @diffef.2(
; CHECK:       entry:
; CHECK-NEXT:    %[[BEFORE:.*]] = getelementptr i8, ptr %tapeArg, i64 -256
; CHECK-NEXT:    call void @llvm.prefetch.p0(ptr %[[BEFORE]], i32 0, i32 3, i32 1)
; CHECK-NOT:     @adgen_kept_mark
; CHECK:         %a = load ptr
; CHECK-NOT:     %c = load
; CHECK:       some:
; CHECK-NOT:     %own
; CHECK:         %[[MARK:.*]] = call ptr @adgen_kept_mark()
; CHECK:         %signs = call ptr @adgen_kept_alloc(
; CHECK:       back:
; CHECK:         %[[ELEMENT:.*]] = getelementptr double, ptr %a, i64 %j
; CHECK-NEXT:    load double, ptr %[[ELEMENT]]
; CHECK:       done:
; CHECK-NEXT:    call void @adgen_large_free(ptr %a)
; CHECK-NEXT:    call void @adgen_kept_free(ptr %signs)
; CHECK-NEXT:    br label %end
; CHECK:       end:
; CHECK-NEXT:    phi ptr
; CHECK-NEXT:    %[[HAS:.*]] = phi i1
; CHECK-NEXT:    br i1 %[[HAS]]
; CHECK:         call void @adgen_kept_release(
define internal void @diffef.2(ptr %dx, i64 %n, double %d, ptr noalias readonly %tapeArg) {
entry:
  %mark = call ptr @adgen_kept_mark()
  %at.a = getelementptr i8, ptr %tapeArg, i64 8
  %a = load ptr, ptr %at.a
  %at.b = getelementptr i8, ptr %tapeArg, i64 16
  %b = load ptr, ptr %at.b
  %at.c = getelementptr i8, ptr %tapeArg, i64 24
  %c = load ptr, ptr %at.c
  %any = icmp ugt i64 %n, 1
  br i1 %any, label %some, label %end
some:
  %bytes = shl i64 %n, 3
  %less = sub i64 %n, 1
  %own = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !0
  %signs = call ptr @adgen_kept_alloc(i64 %n), !enzyme_cache_alloc !1
  br label %loop
loop:
  %i = phi i64 [ 0, %some ], [ %next, %loop ]
  %sign = phi i8 [ 1, %some ], [ %minus, %loop ]
  %from = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %from
  %to = getelementptr double, ptr %own, i64 %i
  store double %v, ptr %to
  %at = getelementptr i8, ptr %signs, i64 %i
  store i8 %sign, ptr %at
  %minus = sub i8 0, %sign
  %next = add nuw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %back, label %loop
back:
  %j = phi i64 [ %less, %loop ], [ %before, %back ]
  %kept = getelementptr double, ptr %own, i64 %j
  %k = load double, ptr %kept
  %m = fmul double %d, %k
  %place = getelementptr ptr, ptr %b, i64 %j
  %inner = load ptr, ptr %place
  call void @diffef.2(ptr %dx, i64 %less, double %m, ptr %inner)
  call void @adgen_large_free(ptr %inner)
  %before = sub i64 %j, 1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %done, label %back
done:
  call void @adgen_large_free(ptr %a)
  call void @adgen_large_free(ptr %b)
  call void @adgen_large_free(ptr %c)
  call void @adgen_kept_free(ptr %own), !enzyme_cache_free !0
  call void @adgen_kept_free(ptr %signs), !enzyme_cache_free !1
  br label %end
end:
  call void @adgen_kept_release(ptr %mark)
  ret void
}

; Not where the reverse sweep writes to what was kept.
; CHECK-LABEL: define internal ptr @augmented_g(
; CHECK:         %tape = call ptr @adgen_large_alloc(i64 16)
; CHECK-NEXT:    %a = call ptr @adgen_large_alloc(i64 %n)
; CHECK:         %b = call ptr @adgen_large_alloc(i64 %n)
define internal ptr @augmented_g(i64 %n) {
  %tape = call ptr @adgen_large_alloc(i64 16)
  %a = call ptr @adgen_large_alloc(i64 %n)
  store ptr %a, ptr %tape
  %b = call ptr @adgen_large_alloc(i64 %n)
  %at.b = getelementptr i8, ptr %tape, i64 8
  store ptr %b, ptr %at.b
  store double 2.0, ptr %b
  ret ptr %tape
}

; CHECK-LABEL: define internal void @diffeg(
; CHECK:         store double 1.0{{.*}}, ptr %a
define internal void @diffeg(ptr noalias readonly %tapeArg) {
  %a = load ptr, ptr %tapeArg
  %at.b = getelementptr i8, ptr %tapeArg, i64 8
  %b = load ptr, ptr %at.b
  store double 1.0, ptr %a
  store double 1.0, ptr %b
  call void @adgen_large_free(ptr %a)
  call void @adgen_large_free(ptr %b)
  ret void
}

define ptr @use(i64 %n) {
  %t = call ptr @augmented_f(ptr null, i64 %n)
  %u = call ptr @augmented_g(i64 %n)
  call void @diffef.2(ptr null, i64 %n, double 1.0, ptr %t)
  call void @diffeg(ptr %u)
  ret ptr null
}

!0 = !{!"own"}
!1 = !{!"signs"}
