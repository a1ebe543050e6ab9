// Shadows of device variables that a gradient has as arguments (Accumulate/PassVariables.cpp).
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// Argument attribute of a gradient: the name of the shadow that it is, which the kernel passes.
inline constexpr llvm::StringLiteral VariableAttribute = "adgen-variable";

// The shadow that an argument is; null for others.
inline llvm::GlobalVariable *variableOf(const llvm::Argument &A) {
  llvm::Function &F = *const_cast<llvm::Function *>(A.getParent());
  const llvm::Attribute Name = F.getAttributes().getParamAttr(A.getArgNo(), VariableAttribute);
  return Name.isValid() ? F.getParent()->getNamedGlobal(Name.getValueAsString()) : nullptr;
}

// In the order of the arguments, which lie behind the parameters' shadows.
inline llvm::SmallVector<llvm::GlobalVariable *> variablesOf(const llvm::Function &Gradient) {
  llvm::SmallVector<llvm::GlobalVariable *> Found;
  for (const llvm::Argument &A : Gradient.args())
    if (llvm::GlobalVariable *Shadow = variableOf(A))
      Found.push_back(Shadow);
  return Found;
}

} // namespace adgen
