; The sine and the cosine of one angle are computed where the first of them was, if the other one always comes behind it.
;
; RUN: %opt -passes=adgen-merge-sin-cos -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare float @__nv_sinf(float)
declare float @__nv_cosf(float)
declare double @__nv_sin(double)
declare double @__nv_cos(double)

; CHECK-LABEL: define float @both(
; CHECK-COUNT-2:  alloca float
; CHECK:         call void @__nv_sincosf(float %x, ptr %[[S:.*]], ptr %[[C:.*]])
; CHECK-NEXT:    %[[A:.*]] = load float, ptr %[[S]]
; CHECK-NEXT:    %[[B:.*]] = load float, ptr %[[C]]
; CHECK-NOT:     @__nv_sinf
; CHECK-NOT:     @__nv_cosf
; CHECK:         fdiv float %[[A]], %[[B]]
define float @both(float %x, i1 %more) "adgen-activity"="duplicated" {
entry:
  %s = call float @__nv_sinf(float %x)
  br i1 %more, label %then, label %end

then:
  %c = call float @__nv_cosf(float %x)
  %tangent = fdiv float %s, %c
  ret float %tangent

end:
  ret float %s
}

; CHECK-LABEL: define double @of_another_angle(
; CHECK:         call double @__nv_sin(double %x)
; CHECK:         call double @__nv_cos(double %y)
define double @of_another_angle(double %x, double %y) "adgen-activity"="duplicated" {
  %s = call double @__nv_sin(double %x)
  %c = call double @__nv_cos(double %y)
  %sum = fadd double %s, %c
  ret double %sum
}

; Neither comes behind the other.
; CHECK-LABEL: define double @either(
; CHECK:         call double @__nv_sin(double %x)
; CHECK:         call double @__nv_cos(double %x)
define double @either(double %x, i1 %which) "adgen-activity"="duplicated" {
entry:
  br i1 %which, label %one, label %other

one:
  %s = call double @__nv_sin(double %x)
  ret double %s

other:
  %c = call double @__nv_cos(double %x)
  ret double %c
}
