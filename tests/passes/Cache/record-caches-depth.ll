; Two caches of a loop keep places of the tape: one that of a block with pointers of the user's, the other that of a
; block with places again. In one record these blocks would count as one, in which places cannot be told from pointers.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK-NOT:     mul i64 %n, 16
; CHECK-NOT:     @malloc
; CHECK:         store ptr %row, ptr %
; CHECK:         ret void
define void @adgen_body_k(ptr %in, ptr %out, i64 %n) {
  ret void
}

define void @adgen_gradient_k(ptr %in, ptr %out, i64 %n) {
entry:
  %bytes = mul nuw nsw i64 %n, 8
  %first = call ptr @malloc(i64 %bytes)
  %second = call ptr @malloc(i64 %bytes)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %row = getelementptr inbounds float, ptr %in, i64 %i
  %first.at = getelementptr inbounds ptr, ptr %first, i64 %i
  %rows = call ptr @malloc(i64 8)
  store ptr %rows, ptr %first.at
  store ptr %row, ptr %rows
  %second.at = getelementptr inbounds ptr, ptr %second, i64 %i
  %places = call ptr @malloc(i64 8)
  store ptr %places, ptr %second.at
  %flags = call ptr @malloc(i64 %n)
  store ptr %flags, ptr %places
  store i8 1, ptr %flags
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, %n
  br i1 %more, label %loop, label %invert

invert:
  %j = phi i64 [ 0, %loop ], [ %following, %invert ]
  %first.in = getelementptr inbounds ptr, ptr %first, i64 %j
  %rows.in = load ptr, ptr %first.in
  %read = load ptr, ptr %rows.in
  store float 1.0, ptr %read
  %second.in = getelementptr inbounds ptr, ptr %second, i64 %j
  %places.in = load ptr, ptr %second.in
  %flags.in = load ptr, ptr %places.in
  %flag = load i8, ptr %flags.in
  store i8 %flag, ptr %out
  call void @free(ptr %flags.in)
  call void @free(ptr %places.in)
  call void @free(ptr %rows.in)
  %following = add nuw nsw i64 %j, 1
  %again = icmp ne i64 %following, %n
  br i1 %again, label %invert, label %done

done:
  call void @free(ptr %first)
  call void @free(ptr %second)
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
