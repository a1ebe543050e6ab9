; What all iterations add to one element is summed up in a register, also beside additions to other elements, which may be the same one. Not where
; something else may see the element, nor where it is added to in some iterations only.
;
; RUN: %opt -passes='adgen-sum-threads' -S %s | %filecheck %s

; CHECK-LABEL: define void @apart(
; CHECK:       thread:
; CHECK:         %sum{{.*}} = phi float [ -0.000000e+00, %entry ], [ %[[SECOND:.*]], %thread ]
; CHECK-NEXT:    %sum{{.*}} = phi float [ -0.000000e+00, %entry ], [ %[[FIRST:.*]], %thread ]
; CHECK-NOT:     ptr %one
; CHECK:         store float %{{.*}}, ptr %each
; CHECK:         br i1 %more, label %thread, label %done
; CHECK:       done:
; CHECK:         %[[OLD:.*]] = load float, ptr %{{one|other}}
; CHECK-NEXT:    %[[NEW:.*]] = fadd reassoc nsz float %[[OLD]], %all
; CHECK-NEXT:    store float %[[NEW]], ptr %{{one|other}}
define void @apart(ptr %one, ptr %other, ptr %array, float %v, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %a = load float, ptr %one
  %b = fadd reassoc nsz float %a, %v
  store float %b, ptr %one
  %each = getelementptr float, ptr %array, i64 %i
  %c = load float, ptr %each
  %d = fadd reassoc nsz float %c, %v
  store float %d, ptr %each
  %e = load float, ptr %other
  %f = fadd reassoc nsz float %v, %e
  store float %f, ptr %other
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; CHECK-LABEL: define void @seen(
; CHECK-NOT:     phi float
; CHECK:         ret void
define void @seen(ptr %one, ptr %array, float %v, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %a = load float, ptr %one
  %b = fadd reassoc nsz float %a, %v
  store float %b, ptr %one
  %each = getelementptr float, ptr %array, i64 %i
  store float %v, ptr %each
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; CHECK-LABEL: define void @sometimes(
; CHECK-NOT:     phi float
; CHECK:         ret void
define void @sometimes(ptr %one, float %v, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %odd = trunc i64 %i to i1
  br i1 %odd, label %work, label %end
work:
  %a = load float, ptr %one
  %b = fadd reassoc nsz float %a, %v
  store float %b, ptr %one
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}
