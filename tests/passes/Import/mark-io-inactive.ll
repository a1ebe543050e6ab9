; What writes text counts as inactive: what libstdc++ has compiled without the bodies that clang shows, what only headers have as a function of its own. Functions that read
; numbers, and operators of others, stay.
;
; RUN: %opt -passes=adgen-mark-io-inactive -S %s | %filecheck %s

; CHECK: @_ZSt4cout = external global ptr, !enzyme_inactive
@_ZSt4cout = external global ptr
; CHECK: @_ZSt3cin = external global ptr{{$}}
@_ZSt3cin = external global ptr

; CHECK: declare ptr @_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_(ptr) [[INACTIVE:#[0-9]+]]
define available_externally ptr @_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_(ptr %stream) {
  %same = call ptr @_ZNSo9_M_insertIdEERSoT_(ptr %stream, double 1.0)
  ret ptr %same
}

; CHECK: define linkonce_odr void @_ZNSt8ios_base9precisionEl(ptr %this, i64 %n) [[APART:#[0-9]+]]
define linkonce_odr void @_ZNSt8ios_base9precisionEl(ptr %this, i64 %n) alwaysinline {
  store i64 %n, ptr %this
  ret void
}

; CHECK: declare ptr @_ZNSo9_M_insertIdEERSoT_(ptr, double) [[INACTIVE]]
declare ptr @_ZNSo9_M_insertIdEERSoT_(ptr, double)

; CHECK: define available_externally ptr @_ZNSirsERd(ptr %stream, ptr %x){{ {$}}
define available_externally ptr @_ZNSirsERd(ptr %stream, ptr %x) {
  ret ptr %stream
}

; CHECK: define linkonce_odr double @_ZStlsSt4bytei(double %x){{ {$}}
define linkonce_odr double @_ZStlsSt4bytei(double %x) {
  ret double %x
}

; CHECK: declare i32 @fputs(ptr, ptr) [[INACTIVE]]
declare i32 @fputs(ptr, ptr)

; CHECK-DAG: attributes [[INACTIVE]] = { "enzyme_inactive" }
; CHECK-DAG: attributes [[APART]] = { noinline "adgen-apart" "enzyme_inactive" }
