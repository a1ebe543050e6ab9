; Addresses of two arrays that are joined before one question is asked of both are integers to Enzyme. Differences are
; as they were, and so is what becomes a pointer again.

; RUN: %opt -passes=adgen-hide-float-bits -S %s | %filecheck %s
; RUN: %opt -passes=adgen-hide-float-bits,adgen-restore-float-bits -S %s | %filecheck %s --check-prefix=SHOWN

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_aligned
; CHECK: %[[A:.*]] = call i64 @adgen_hidden_bits_i64(i64 %a)
; CHECK: %[[B:.*]] = call i64 @adgen_hidden_bits_i64(i64 %b)
; CHECK: %both = or i64 %[[A]], %[[B]]
; CHECK: %all = or i64 %both, %c
; SHOWN-LABEL: define void @adgen_body_aligned
; SHOWN: %both = or i64 %a, %b
define void @adgen_body_aligned(ptr %x, ptr %y, ptr %z) {
  %a = ptrtoint ptr %x to i64
  %b = ptrtoint ptr %y to i64
  %c = ptrtoint ptr %z to i64
  %both = or i64 %a, %b
  %all = or i64 %both, %c
  %rest = and i64 %all, 15
  %whole = icmp eq i64 %rest, 0
  br i1 %whole, label %wide, label %end

wide:
  store float 0.0, ptr %x
  br label %end

end:
  ret void
}

; CHECK-LABEL: define i1 @larger
; CHECK-NOT: adgen_hidden_bits
; CHECK: ret i1
define i1 @larger(ptr %first, ptr %last, ptr %n) {
  %a = ptrtoint ptr %first to i64
  %b = ptrtoint ptr %last to i64
  %bytes = sub i64 %b, %a
  %square = mul i64 %bytes, %bytes
  %larger = icmp ugt i64 %square, 64
  ret i1 %larger
}

; An address that goes round in a loop ends the search, too.
; CHECK-LABEL: define i64 @mixed
; CHECK: %[[D:.*]] = call i64 @adgen_hidden_bits_i64(i64 %down)
; CHECK: %[[E:.*]] = call i64 @adgen_hidden_bits_i64(i64 %b)
; CHECK: %both = xor i64 %[[D]], %[[E]]
; CHECK-LABEL: define ptr @exchanged
; CHECK-NOT: call i64
; CHECK: ret ptr
define i64 @mixed(ptr %x, ptr %y) {
entry:
  %a = ptrtoint ptr %x to i64
  %b = ptrtoint ptr %y to i64
  br label %loop

loop:
  %at = phi i64 [ %a, %entry ], [ %down, %loop ]
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add i64 %n, 1
  %down = sub i64 %at, 8
  %both = xor i64 %down, %b
  %rest = and i64 %both, 31
  %found = icmp eq i64 %rest, 0
  br i1 %found, label %end, label %loop

end:
  ret i64 %next
}

define ptr @exchanged(ptr %x, ptr %y) {
  %a = ptrtoint ptr %x to i64
  %b = ptrtoint ptr %y to i64
  %both = xor i64 %a, %b
  %other = xor i64 %both, %a
  %p = inttoptr i64 %other to ptr
  ret ptr %p
}

; How far a search has come that need not have run: which address it is was chosen among integers.
; CHECK-LABEL: define void @searched
; CHECK: %[[BEGIN:.*]] = call i64 @adgen_hidden_bits_i64(i64 %first)
; CHECK: %[[AT:.*]] = call i64 @adgen_hidden_bits_i64(i64 %found)
; CHECK: %at = phi i64 [ %[[AT]], %ran ], [ %[[BEGIN]], %entry ]
; CHECK: %bytes = sub i64 %at, %[[BEGIN]]
define void @searched(ptr %x, ptr %y, i64 %n, ptr %out) {
entry:
  %first = ptrtoint ptr %x to i64
  %runs = icmp sgt i64 %n, 0
  br i1 %runs, label %ran, label %end

ran:
  %z = getelementptr float, ptr %y, i64 %n
  %found = ptrtoint ptr %z to i64
  br label %end

end:
  %at = phi i64 [ %found, %ran ], [ %first, %entry ]
  %bytes = sub i64 %at, %first
  %place = lshr exact i64 %bytes, 2
  store i64 %place, ptr %out
  ret void
}

; What was chosen is a pointer again as well.
; CHECK-LABEL: define ptr @chosen
; CHECK-NOT: adgen_hidden_bits
; CHECK: ret ptr
define ptr @chosen(ptr %x, ptr %y, i1 %which, ptr %out) {
  %first = ptrtoint ptr %x to i64
  %other = ptrtoint ptr %y to i64
  %at = select i1 %which, i64 %first, i64 %other
  %bytes = sub i64 %at, %first
  store i64 %bytes, ptr %out
  %z = inttoptr i64 %at to ptr
  ret ptr %z
}
