; Additions into memory that a region has allocated and whose address stays there are plain; it is told apart from other memory. Where the
; address is stored or handed on, another thread may add too.
;
; RUN: %opt -passes='adgen-own-memory' -S %s | %filecheck %s

; CHECK-LABEL: define void @diffeadgen_region_f(
; CHECK:         load double, ptr %own, align 8, !alias.scope ![[OWN:[0-9]+]]
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double %{{.*}}, ptr %own, align 8, !alias.scope ![[OWN]]
; CHECK-NEXT:    atomicrmw fadd ptr %stored, double %v monotonic, align 8, !noalias ![[OWN]]
; CHECK-NEXT:    atomicrmw fadd ptr %shadow, double %v monotonic, align 8, !noalias ![[OWN]]
define void @diffeadgen_region_f(ptr %shadow, double %v, ptr %place) {
  %own = call noalias ptr @_Znwm(i64 8)
  %stored = call noalias ptr @_Znwm(i64 8)
  store ptr %stored, ptr %place
  %a = atomicrmw fadd ptr %own, double %v monotonic, align 8
  %b = atomicrmw fadd ptr %stored, double %v monotonic, align 8
  %c = atomicrmw fadd ptr %shadow, double %v monotonic, align 8
  call void @_ZdlPv(ptr %own)
  ret void
}

; Nothing is allocated on one way.
; CHECK-LABEL: define void @diffeadgen_region_g(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @diffeadgen_region_g(i1 %any, double %v) {
entry:
  br i1 %any, label %some, label %join
some:
  %own = call noalias ptr @_Znwm(i64 8)
  br label %join
join:
  %memory = phi ptr [ null, %entry ], [ %own, %some ]
  br i1 %any, label %add, label %end
add:
  %a = atomicrmw fadd ptr %memory, double %v monotonic, align 8
  br label %end
end:
  ret void
}

declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)
