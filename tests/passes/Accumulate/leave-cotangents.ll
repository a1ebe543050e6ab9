; The cotangent of an element to which a thread adds, whichever terms of the sum there are, is read where it is. Where it
; is not added again on all ways, or something may see the element, it is taken.
;
; RUN: %opt -passes=adgen-leave-cotangents -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_terms(
; CHECK:         %d = load float, ptr %to
; CHECK-NEXT:    br i1 %some
; CHECK:       term:
; CHECK-NEXT:    %e = fmul float %d, %w
; CHECK-NEXT:    atomicrmw fadd ptr %d_x, float %e
; CHECK:       done:
; CHECK-NEXT:    ret void
define void @adgen_gradient_terms(i64 %i, i1 %some, float %w, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:const:const:duplicated:duplicated" {
invert:
  %to = getelementptr inbounds float, ptr %d_y, i64 %i
  %d = atomicrmw xchg ptr %to, float 0.0 monotonic, align 4, !adgen.consumed !0
  br i1 %some, label %term, label %done
term:
  %e = fmul float %d, %w
  %1 = atomicrmw fadd ptr %d_x, float %e monotonic
  br label %done
done:
  %2 = atomicrmw fadd ptr %to, float %d monotonic, align 4
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_sometimes(
; CHECK:         atomicrmw xchg
; CHECK:         atomicrmw fadd
define void @adgen_gradient_sometimes(i64 %i, i1 %some, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:const:duplicated" {
invert:
  %to = getelementptr inbounds float, ptr %d_y, i64 %i
  %d = atomicrmw xchg ptr %to, float 0.0 monotonic, align 4, !adgen.consumed !0
  br i1 %some, label %back, label %done
back:
  %1 = atomicrmw fadd ptr %to, float %d monotonic, align 4
  br label %done
done:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_seen(
; CHECK:         atomicrmw xchg
; CHECK:         atomicrmw fadd
define void @adgen_gradient_seen(i64 %i, i64 %j, i1 %some, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:const:const:duplicated:duplicated" {
invert:
  %to = getelementptr inbounds float, ptr %d_y, i64 %i
  %other = getelementptr inbounds float, ptr %d_y, i64 %j
  %d = atomicrmw xchg ptr %to, float 0.0 monotonic, align 4, !adgen.consumed !0
  br i1 %some, label %look, label %done
look:
  %e = load float, ptr %other
  store float %e, ptr %d_x
  br label %done
done:
  %1 = atomicrmw fadd ptr %to, float %d monotonic, align 4
  ret void
}

; Taken in each iteration, added again once.
; CHECK-LABEL: define void @adgen_gradient_iterations(
; CHECK:         atomicrmw xchg
; CHECK:         atomicrmw fadd
define void @adgen_gradient_iterations(i64 %i, i64 %n, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:const:duplicated" {
entry:
  %to = getelementptr inbounds float, ptr %d_y, i64 %i
  br label %invert
invert:
  %k = phi i64 [ 0, %entry ], [ %k.next, %invert ]
  %d = atomicrmw xchg ptr %to, float 0.0 monotonic, align 4, !adgen.consumed !0
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %n
  br i1 %more, label %invert, label %done
done:
  %1 = atomicrmw fadd ptr %to, float %d monotonic, align 4
  ret void
}

!0 = !{}
