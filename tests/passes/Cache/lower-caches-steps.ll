; Of an address with a constant index before one that varies, all is in the place: nothing of it is added again.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK:         %[[IN:.*]] = mul i64 %i, 8
; CHECK-NEXT:    %[[OFFSET:.*]] = add i64 24, %[[IN]]
; CHECK-NEXT:    %[[NUMBER:.*]] = add i64 %{{.*}}, %[[OFFSET]]
; CHECK-NEXT:    %[[BYTE:.*]] = mul i64 %[[NUMBER]], 32
; CHECK-NEXT:    %[[PLACE:.*]] = getelementptr i8, ptr %1, i64 %[[BYTE]]
; CHECK-NEXT:    %[[SAME:.*]] = getelementptr i8, ptr %[[PLACE]], i64 0
; CHECK-NEXT:    store double %v, ptr %[[SAME]], align 8
; CHECK:         %[[NEXT:.*]] = getelementptr i8, ptr %{{.*}}, i64 256
; CHECK-NEXT:    load double, ptr %[[NEXT]], align 8

define void @adgen_body_k(ptr %x, i64 %i) {
  ret void
}

define void @adgen_gradient_k(ptr %x, i64 %i) {
entry:
  %v = load double, ptr %x
  %kept = call ptr @malloc(i64 64)
  %row = getelementptr { [3 x double], [5 x double] }, ptr %kept, i64 0, i32 1, i64 %i
  store double %v, ptr %row
  br label %invert
invert:
  %beside = getelementptr i8, ptr %row, i64 8
  %w = load double, ptr %beside
  store double %w, ptr %x
  ret void
}

declare ptr @malloc(i64)
