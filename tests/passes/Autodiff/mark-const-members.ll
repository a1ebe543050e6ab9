; The pointers of a struct that lead to arrays without a derivative are marked where they are loaded, however the offset is reached.
; Where the address of the struct is handed on, the entry is refused.
;
; RUN: %opt -passes=adgen-mark-const-members -S %s | %filecheck %s
; RUN: %opt -passes=adgen-mark-const-members -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

; CHECK-LABEL: define void @adgen_body_marked(
; CHECK:         %x = load ptr, ptr %s, align 8{{$}}
; CHECK:         %y = load ptr, ptr %at_y, align 8, !enzyme_inactive_val [[NOTHING:![0-9]+]]
; CHECK:         %again = load ptr, ptr %inner_y, align 8, !enzyme_inactive_val [[NOTHING]]
; CHECK:         %n = load i32, ptr %at_n, align 4{{$}}
define void @adgen_body_marked(ptr "adgen-struct"="24" "adgen-const-members"="8" %s) {
  %x = load ptr, ptr %s, align 8
  %at_y = getelementptr inbounds i8, ptr %s, i64 8
  %y = load ptr, ptr %at_y, align 8
  %inner = getelementptr inbounds i8, ptr %s, i64 4
  %inner_y = getelementptr inbounds i8, ptr %inner, i64 4
  %again = load ptr, ptr %inner_y, align 8
  %at_n = getelementptr inbounds i8, ptr %s, i64 16
  %n = load i32, ptr %at_n, align 4
  store i32 7, ptr %at_n, align 4
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"handed"{{.*}}'s' cannot have members that are const
define void @adgen_body_handed(ptr "adgen-struct"="24" "adgen-const-members"="8" %s) {
  call void @other(ptr %s)
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"wide"
define void @adgen_body_wide(ptr "adgen-struct"="24" "adgen-const-members"="8" %s) {
  %both = load <2 x ptr>, ptr %s, align 8
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"changed"
define void @adgen_body_changed(ptr "adgen-struct"="24" "adgen-const-members"="8" %s, ptr %z) {
  %at_y = getelementptr inbounds i8, ptr %s, i64 8
  store ptr %z, ptr %at_y, align 8
  ret void
}

; REFUSED-NOT: adgen-refusal
define void @adgen_body_other(ptr "adgen-struct"="24" %s) {
  call void @other(ptr %s)
  ret void
}

declare void @other(ptr)
