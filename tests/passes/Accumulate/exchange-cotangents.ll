; A cotangent that is read and zeroed between loads is taken in one exchange; where no load follows, the zero is stored as it was.
;
; RUN: %opt -passes=adgen-exchange-cotangents -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @between_loads(
; CHECK:         %[[FIRST:.*]] = atomicrmw xchg ptr %d_y, float 0.0{{.*}} monotonic, align 4
; CHECK-NEXT:    %second = getelementptr
; CHECK-NEXT:    %b = load float, ptr %second
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %second
; CHECK-NEXT:    fadd float %[[FIRST]], %b
define void @between_loads(ptr %y, ptr "adgen-shadow" %d_y, i64 %i) "adgen-activity"="duplicated" {
  %a = load float, ptr %d_y, align 4
  store float 0.0, ptr %d_y, align 4
  %second = getelementptr float, ptr %d_y, i64 %i
  %b = load float, ptr %second, align 4
  store float 0.0, ptr %second, align 4
  %sum = fadd float %a, %b
  store float %sum, ptr %y
  ret void
}

; In a loop loads follow, in the next iteration.
; CHECK-LABEL: define void @in_a_loop(
; CHECK:         atomicrmw xchg ptr %at, double 0.0
; CHECK-NOT:     store double 0.0
define void @in_a_loop(ptr %y, ptr "adgen-shadow" %d_y, i64 %n) "adgen-activity"="duplicated" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %d_y, i64 %i
  %a = load double, ptr %at, align 8
  store double 0.0, ptr %at, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What may read the element between stops it; so does a value that is not zero, and memory that is no shadow.
; CHECK-LABEL: define void @not_these(
; CHECK-NOT:     xchg
; CHECK:         ret void
define void @not_these(ptr %y, ptr "adgen-shadow" %d_y, i64 %i) "adgen-activity"="duplicated" {
  %other = getelementptr float, ptr %d_y, i64 %i
  %a = load float, ptr %d_y
  %b = load float, ptr %other
  store float 0.0, ptr %d_y
  %c = load float, ptr %d_y
  store float 1.0, ptr %d_y
  %d = load float, ptr %y
  store float 0.0, ptr %y
  %e = load float, ptr %y
  ret void
}
