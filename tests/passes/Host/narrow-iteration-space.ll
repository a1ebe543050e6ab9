; Threads that have nothing to do are left out of the loop over a row, and what is the same for the row is asked once. The old loop stays for places
; that wrap around. What else a thread asks is still asked. A loop whose header reads memory stays, and so does one
; that works for all threads where the condition leads.
;
; RUN: %opt -passes='adgen-narrow-iteration-space' -S %s | %filecheck %s

; CHECK-LABEL: define void @row(
; CHECK:       entry:
; CHECK:         %[[WIDE:.*]] = sext i32 %{{.*}} to i64
; CHECK:         %[[BEHIND:.*]] = add i64 %[[WIDE]], %{{.*}}
; CHECK:         %[[EXACT:.*]] = icmp sle i64 %[[BEHIND]], 2147483647
; CHECK:         br i1 %[[EXACT]], label %clamped, label %thread, !prof
; CHECK:       clamped:
; CHECK:         %[[FIRST:.*]] = call i32 @llvm.smax.i32(i32 %{{.*}}, i32 %{{.*}})
; CHECK:         %[[LAST:.*]] = call i32 @llvm.smin.i32(i32 %{{.*}}, i32 %{{.*}})
; CHECK:         %[[SOME:.*]] = icmp slt i32 %[[FIRST]], %[[LAST]]
; CHECK:         %[[IDLE:.*]] = freeze i1 %outside
; CHECK:         br i1 %{{.*}}, label %thread.clamped, label %done
; CHECK:       thread:
; CHECK:         br i1 %next.more, label %thread, label %done, !llvm.loop
; CHECK:       thread.clamped:
; CHECK-NEXT:    %place = phi i32 [ %[[FIRST]], %clamped ], [ %[[NEXT:.*]], %end.clamped ]
; CHECK:         br label %work.clamped
; CHECK:       work.clamped:
; CHECK:         store float 1.000000e+00
; CHECK:       end.clamped:
; CHECK:         %[[NEXT]] = add nsw i32 %place, 1
; CHECK-NEXT:    %[[MORE:.*]] = icmp slt i32 %[[NEXT]], %[[LAST]]
; CHECK-NEXT:    br i1 %[[MORE]], label %thread.clamped, label %done
define void @row(ptr %a, i32 %base, i32 %extent, i32 %n, i1 %outside) {
entry:
  br label %thread
thread:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  call void @llvm.experimental.noalias.scope.decl(metadata !0) ; as inlined functions leave it
  %x = add i32 %base, %i
  %low = icmp slt i32 %x, 1
  %high = icmp sge i32 %x, %n
  %either = or i1 %low, %outside
  %skip = select i1 %either, i1 true, i1 %high
  br i1 %skip, label %end, label %work
work:
  %at = getelementptr float, ptr %a, i32 %x
  store float 1.0, ptr %at
  br label %end
end:
  %next = add nuw nsw i32 %i, 1
  %next.more = icmp ult i32 %next, %extent
  br i1 %next.more, label %thread, label %done
done:
  ret void
}

; An index without a sign: below zero it would be a large one. Whether it is even is still asked.
; CHECK-LABEL: define void @unsigned(
; CHECK:         %[[POSITIVE:.*]] = icmp sge i32 %{{.*}}, 0
; CHECK:         br i1 %{{.*}}, label %clamped, label %thread
; CHECK:       clamped:
; CHECK:         call i32 @llvm.umin.i32(i32 %{{.*}}, i32 2147483647)
; CHECK:       thread.clamped:
; CHECK:         %[[ODD:.*]] = icmp eq i32 %{{.*}}, 0
; CHECK:         br i1 %[[ODD]], label %work.clamped, label %end.clamped
define void @unsigned(ptr %a, i32 %base, i32 %extent, i32 %n) {
entry:
  br label %thread
thread:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  %x = add i32 %base, %i
  %inside = icmp ult i32 %x, %n
  %bit = and i32 %x, 1
  %even = icmp eq i32 %bit, 0
  %works = and i1 %inside, %even
  br i1 %works, label %work, label %end
work:
  %at = getelementptr float, ptr %a, i32 %x
  store float 1.0, ptr %at
  br label %end
end:
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %extent
  br i1 %more, label %thread, label %done
done:
  ret void
}

; CHECK-LABEL: define void @reads(
; CHECK-NOT:     clamped
define void @reads(ptr %a, ptr %limit, i32 %extent) {
entry:
  br label %thread
thread:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  %n = load i32, ptr %limit
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %end
work:
  %at = getelementptr float, ptr %a, i32 %i
  store float 1.0, ptr %at
  br label %end
end:
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %extent
  br i1 %more, label %thread, label %done
done:
  ret void
}

; CHECK-LABEL: define void @halo(
; CHECK-NOT:   clamped
; CHECK:       ret void
define void @halo(ptr noalias %a, ptr noalias %b, i32 %extent) {
entry:
  br label %thread
thread:
  %i = phi i32 [ 0, %entry ], [ %next, %rest ]
  %first = icmp ult i32 %i, 2
  br i1 %first, label %border, label %rest
border:
  %at = getelementptr float, ptr %a, i32 %i
  store float 0.0, ptr %at
  br label %rest
rest:
  %to = getelementptr float, ptr %b, i32 %i
  store float 1.0, ptr %to
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %extent
  br i1 %more, label %thread, label %done
done:
  ret void
}

declare void @llvm.experimental.noalias.scope.decl(metadata)

!0 = !{!1}
!1 = distinct !{!1, !2}
!2 = distinct !{!2}
