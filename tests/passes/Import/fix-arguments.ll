; A function that looks at none of any number of arguments takes as many as it names. Where it looks at them, or its address is taken, it stays.
;
; RUN: %opt -passes=adgen-fix-arguments,verify -S %s | %filecheck %s

; CHECK-LABEL: define internal noundef ptr @first(ptr noundef %v) {
define internal noundef ptr @first(ptr noundef %v, ...) {
  ret ptr %v
}

; CHECK-LABEL: define linkonce_odr double @none() {
define linkonce_odr double @none(...) {
  ret double 1.0
}

; CHECK-LABEL: define internal void @looks(i32 %n, ...)
define internal void @looks(i32 %n, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret void
}

; CHECK-LABEL: define internal double @addressed(double %x, ...)
define internal double @addressed(double %x, ...) {
  ret double %x
}

; CHECK-LABEL: define ptr @caller(
; CHECK:         call noundef ptr @first(ptr noundef %a)
; CHECK-NEXT:    invoke double @none()
; CHECK-NEXT:    to label %end unwind label %thrown
; CHECK:         call void (i32, ...) @looks(i32 1, double 2.000000e+00)
; CHECK-NEXT:    call void (...) @elsewhere(i32 3)
define ptr @caller(ptr %a, ptr %b, ptr %place) personality ptr @__gxx_personality_v0 {
  %f = call noundef ptr (ptr, ...) @first(ptr noundef %a, ptr noundef %b, i32 4)
  %n = invoke double (...) @none(i32 1) to label %end unwind label %thrown
end:
  call void (i32, ...) @looks(i32 1, double 2.0)
  call void (...) @elsewhere(i32 3)
  store ptr @addressed, ptr %place
  store double %n, ptr %b
  ret ptr %f
thrown:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}

declare void @elsewhere(...)
declare i32 @__gxx_personality_v0(...)
