; A local list of structs becomes an array for each member, also where an element is copied whole. Lists whose elements are used
; otherwise stay.
;
; RUN: %opt -passes=adgen-split-allocas,verify -S %s | %filecheck %s

%struct.Hit = type { float, i32 }

; CHECK-LABEL: define float @hits(
; CHECK-DAG:     %[[DEPTHS:.*]] = alloca [8 x float]
; CHECK-DAG:     %[[WHICH:.*]] = alloca [8 x i32]
; CHECK:         %[[DEPTH:.*]] = load float, ptr
; CHECK:         getelementptr
; CHECK:         load i32, ptr
; CHECK:         store float %[[DEPTH]], ptr
; CHECK:         store i32
; CHECK-NOT:     memcpy
; CHECK:         ret float
define float @hits(i64 %i, i64 %j, float %z) {
  %list = alloca [8 x %struct.Hit], align 4
  %one = getelementptr inbounds [8 x %struct.Hit], ptr %list, i64 0, i64 %i
  %other = getelementptr inbounds %struct.Hit, ptr %list, i64 %j
  store float %z, ptr %one, align 4
  %at = getelementptr inbounds %struct.Hit, ptr %one, i32 0, i32 1
  store i32 7, ptr %at, align 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %other, ptr align 4 %one, i64 8, i1 false)
  %r = load float, ptr %other, align 4
  ret float %r
}

; CHECK-LABEL: define i64 @bits(
; CHECK:         alloca [8 x %struct.Hit]
; CHECK:         ret i64
define i64 @bits(i64 %i, float %z) {
  %list = alloca [8 x %struct.Hit], align 8
  %one = getelementptr inbounds [8 x %struct.Hit], ptr %list, i64 0, i64 %i
  store float %z, ptr %one, align 8
  %r = load i64, ptr %one, align 8
  ret i64 %r
}
