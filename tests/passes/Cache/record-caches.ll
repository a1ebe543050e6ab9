; What the iterations of one loop keep is one record on the tape: eight bytes beside each other, one place for all. An odd
; float stays by itself, and so does what another loop reads or what has another number of elements. The tape is not
; longer than was measured.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK:         %[[RECORD:.*]] = mul i64 %n, 16
; CHECK:         add i64 %[[RECORD]], 7
; CHECK:         add i64 %four, 7
; CHECK:         %others = mul nuw nsw i64 %m, 8
; CHECK:         add i64 %others, 7
; CHECK:       loop:
; CHECK:         %[[IN:.*]] = mul i64 %i, 16
; CHECK:         %[[NUMBER:.*]] = add i64 %{{.*}}, %[[IN]]
; CHECK:         %[[BYTE:.*]] = mul i64 %[[NUMBER]], 32
; CHECK:         %[[PLACE:.*]] = getelementptr i8, ptr %1, i64 %[[BYTE]]
; CHECK:         %[[A:.*]] = getelementptr i8, ptr %[[PLACE]], i64 256
; CHECK:         store float %x, ptr %[[A]], align 8
; CHECK:         %[[B:.*]] = getelementptr i8, ptr %{{.*}}, i64 260
; CHECK:         store float %x, ptr %[[B]], align 4
; CHECK:         %[[D:.*]] = getelementptr i8, ptr %{{.*}}, i64 0
; CHECK:         store double %y, ptr %[[D]], align 8
; CHECK:         and i64 %{{.*}}, 7
; CHECK:         store float %x, ptr %
; CHECK:       invert:
; CHECK:         getelementptr i8, ptr %{{.*}}, i64 256
; CHECK:         getelementptr i8, ptr %{{.*}}, i64 260

declare ptr @malloc(i64)
declare void @free(ptr)

define void @adgen_body_k(ptr %out, float %x, double %y, i64 %n, i64 %m) {
  ret void
}

define void @adgen_gradient_k(ptr %out, float %x, double %y, i64 %n, i64 %m) {
entry:
  %four = mul nuw nsw i64 %n, 4
  %eight = mul nuw nsw i64 %n, 8
  %a = call ptr @malloc(i64 %four)
  %b = call ptr @malloc(i64 %four)
  %c = call ptr @malloc(i64 %four)
  %d = call ptr @malloc(i64 %eight)
  %others = mul nuw nsw i64 %m, 8
  %e = call ptr @malloc(i64 %others)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a.at = getelementptr inbounds float, ptr %a, i64 %i
  store float %x, ptr %a.at
  %b.at = getelementptr inbounds float, ptr %b, i64 %i
  store float %x, ptr %b.at
  %d.at = getelementptr inbounds double, ptr %d, i64 %i
  store double %y, ptr %d.at
  %c.at = getelementptr inbounds float, ptr %c, i64 %i
  store float %x, ptr %c.at
  %e.at = getelementptr inbounds double, ptr %e, i64 %i
  store double %y, ptr %e.at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  br label %invert

invert:
  %back = phi i64 [ %n, %end ], [ %before, %invert ]
  %before = sub i64 %back, 1
  %a.in = getelementptr inbounds float, ptr %a, i64 %before
  %a.kept = load float, ptr %a.in
  %b.in = getelementptr inbounds float, ptr %b, i64 %before
  %b.kept = load float, ptr %b.in
  %c.in = getelementptr inbounds float, ptr %c, i64 %before
  %c.kept = load float, ptr %c.in
  %d.in = getelementptr inbounds double, ptr %d, i64 %before
  %d.kept = load double, ptr %d.in
  %e.in = getelementptr inbounds double, ptr %e, i64 %before
  %e.kept = load double, ptr %e.in
  %ab = fadd float %a.kept, %b.kept
  %abc = fadd float %ab, %c.kept
  %wide = fpext float %abc to double
  %sum = fadd double %wide, %d.kept
  %all = fadd double %sum, %e.kept
  %old = load double, ptr %out
  %new = fadd double %old, %all
  store double %new, ptr %out
  %again = icmp ne i64 %before, 0
  br i1 %again, label %invert, label %done

done:
  call void @free(ptr %a)
  call void @free(ptr %b)
  call void @free(ptr %c)
  call void @free(ptr %d)
  call void @free(ptr %e)
  ret void
}

; What the user's own pointers are kept in lies beside no place of the tape.
; CHECK-LABEL: define void @adgen_gradient_pointers(
; CHECK:         add i64 %eight, 7
; CHECK:         add i64 %eight, 7
; CHECK:       loop:
; CHECK:         store ptr %row, ptr %
; CHECK:         store i64 %

define void @adgen_body_pointers(ptr %out, ptr %rows, i64 %n) {
  ret void
}

define void @adgen_gradient_pointers(ptr %out, ptr %rows, i64 %n) {
entry:
  %eight = mul nuw nsw i64 %n, 8
  %pointers = call ptr @malloc(i64 %eight)
  %places = call ptr @malloc(i64 %eight)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %row = load ptr, ptr %rows
  %pointers.at = getelementptr inbounds ptr, ptr %pointers, i64 %i
  store ptr %row, ptr %pointers.at
  %places.at = getelementptr inbounds ptr, ptr %places, i64 %i
  %place = call ptr @malloc(i64 %n)
  store ptr %place, ptr %places.at
  store i8 1, ptr %place
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, %n
  br i1 %more, label %loop, label %invert

invert:
  %j = phi i64 [ 0, %loop ], [ %following, %invert ]
  %pointers.in = getelementptr inbounds ptr, ptr %pointers, i64 %j
  %read = load ptr, ptr %pointers.in
  store float 1.0, ptr %read
  %places.in = getelementptr inbounds ptr, ptr %places, i64 %j
  %kept = load ptr, ptr %places.in
  %flag = load i8, ptr %kept
  store i8 %flag, ptr %out
  call void @free(ptr %kept)
  %following = add nuw nsw i64 %j, 1
  %again = icmp ne i64 %following, %n
  br i1 %again, label %invert, label %done

done:
  call void @free(ptr %pointers)
  call void @free(ptr %places)
  ret void
}
