// Enzyme infers what is behind a pointer from how the function uses it, but does not look from a fork into the region.
// An array that one function only clears or copies and a region fills would be of unknown type to it. So the pointers
// that a fork hands over get the attribute enzyme_type: what the region loads and stores through them, where that is of
// one kind. The same is said of memory that is copied or cleared as a whole, whose type Enzyme loses where indices
// count down.
#include "Analysis/Layout.h"
#include "EnzymeCompat/NameNumbers.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

#include <map>
#include <memory>
#include <set>

using namespace llvm;

namespace adgen {
namespace {

constexpr int64_t Anywhere = -1;
constexpr unsigned DeepestCall = 6, DeepestPointer = 4;
constexpr uint64_t LongestStruct = 256;

// What lies behind a pointer, by offset in bytes.
struct Memory {
  enum Kind { Mixed, Bits, Integer, Float, Double, Pointer }; // bits: integers by type, which may be those of a number
  std::map<int64_t, Kind> Kinds;
  std::map<int64_t, std::unique_ptr<Memory>> Behind; // of pointers
  bool Escapes = false;                              // its address is kept, and read again elsewhere
  bool CountsWith = false;                           // clang says of what is read there that it is an integer

  void add(int64_t Offset, Kind K) {
    auto [It, Fresh] = Kinds.try_emplace(Offset, K);
    if (!Fresh && It->second != K)
      It->second = Mixed;
  }

  bool isFloating() const {
    return !Kinds.empty() && isUniform() && is_contained({Float, Double}, Kinds.begin()->second);
  }
  bool isOnly(Kind K) const { return !Kinds.empty() && isUniform() && Kinds.begin()->second == K; }

  bool holdsPointers() const {
    return any_of(Kinds, [](auto &Entry) { return Entry.second == Pointer; });
  }

  const Memory *behind(int64_t Offset) const {
    auto It = Behind.find(Offset);
    return It == Behind.end() ? nullptr : It->second.get();
  }

  // Elements at unknown places are of one kind only where all that was seen is.
  bool isUniform() const {
    return all_of(Kinds, [&](auto &Entry) { return Entry.second == Kinds.begin()->second; });
  }

  // Appends "[-1,0]:Float@double, ..." for what lies behind a pointer at `Path`, of which others know more.
  void describe(const std::string &Path, std::string &Text, const Memory *Others) const {
    if (Kinds.count(Anywhere) &&
        (!isUniform() || (Others && (Others->CountsWith || (isFloating() && Others->holdsPointers())))))
      return;
    for (auto [Offset, K] : Kinds) {
      if (K == Mixed || K == Bits || K == Integer || (Offset != Anywhere && Kinds.count(Anywhere)))
        continue;
      std::string Here = Path + "," + std::to_string(Offset);
      Text += ", [" + Here + "]:" + (K == Pointer ? "Pointer" : K == Double ? "Float@double" : "Float@float");
      if (const Memory *There = behind(Offset))
        There->describe(Here, Text, Others ? Others->behind(Offset) : nullptr);
    }
  }
};

class Reader {
public:
  explicit Reader(const DataLayout &Layout) : Layout(Layout) {}

  void read(Value &Address, int64_t Offset, Memory &Found, unsigned Calls, unsigned Pointers) {
    if (!Address.hasUseList() || !Seen.insert({&Address, &Found}).second) // null has no uses
      return;
    for (Use &U : Address.uses())
      if (auto *I = dyn_cast<Instruction>(U.getUser()))
        visit(*I, U, Offset, Found, Calls, Pointers);
  }

  static Memory::Kind kindOf(const Instruction &I, const Type *T) {
    if (T->isIntegerTy())
      return isWholeInteger(I.getMetadata(LLVMContext::MD_tbaa)) ? Memory::Integer : Memory::Bits;
    return T->isPointerTy()  ? Memory::Pointer
           : T->isDoubleTy() ? Memory::Double
           : T->isFloatTy()  ? Memory::Float
                             : Memory::Mixed;
  }

private:
  void visit(Instruction &I, Use &U, int64_t Offset, Memory &Found, unsigned Calls, unsigned Pointers) {
    if (auto *Step = dyn_cast<GetElementPtrInst>(&I)) {
      APInt Constant(64, 0);
      bool Known = Offset != Anywhere && Step->accumulateConstantOffset(Layout, Constant);
      return read(I, Known ? Offset + Constant.getSExtValue() : Anywhere, Found, Calls, Pointers);
    }
    if (isa<PHINode, SelectInst>(I) && I.getType()->isPointerTy())
      return read(I, isa<PHINode>(I) ? Anywhere : Offset, Found, Calls, Pointers);
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return access(I, *Load, Load->getType(), Offset, Found, Calls, Pointers);
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && U.getOperandNo() == StoreInst::getPointerOperandIndex())
      return access(I, *Store->getValueOperand(), Store->getValueOperand()->getType(), Offset, Found, Calls, Pointers);
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
        Atomic && U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex())
      return access(I, I, I.getType(), Offset, Found, Calls, Pointers);
    if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
      Value *Other = U.getOperandNo() == 0 ? Copy->getRawSource() : Copy->getRawDest();
      return read(*Other, Offset, Found, Calls, Pointers); // what is copied is of one kind
    }
    Found.Escapes |= isa<StoreInst>(I);
    auto *Call = dyn_cast<CallBase>(&I);
    if (Function *Started = Call ? startedBy(*Call) : nullptr; Started && Calls && U.getOperandNo() >= ForkCaptured)
      return read(*Started->getArg(U.getOperandNo() - ForkCaptured + RegionCaptured), Offset, Found, Calls - 1,
                  Pointers);
    Function *Callee = Call && Call->isArgOperand(&U) ? Call->getCalledFunction() : nullptr;
    if (Callee && !Callee->isDeclaration() && Calls && Call->getArgOperandNo(&U) < Callee->arg_size())
      read(*Callee->getArg(Call->getArgOperandNo(&U)), Offset, Found, Calls - 1, Pointers);
  }

  // Clang's word that this is an integer, and no member of a struct.
  static bool isWholeInteger(const MDNode *Tag) { return isInteger(Tag) && Tag->getOperand(0) == Tag->getOperand(1); }

  static bool isInteger(const MDNode *Tag) {
    auto *Access = Tag && Tag->getNumOperands() > 1 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
    auto *Name = Access && Access->getNumOperands() ? dyn_cast<MDString>(Access->getOperand(0)) : nullptr;
    return Name && is_contained({"short", "int", "long", "long long"}, Name->getString());
  }

  void access(const Instruction &I, Value &V, Type *T, int64_t Offset, Memory &Found, unsigned Calls,
              unsigned Pointers) {
    const Memory::Kind Kind = kindOf(I, T);
    Found.CountsWith |= isInteger(I.getMetadata(LLVMContext::MD_tbaa));
    if (Kind == Memory::Bits && isa<ConstantInt>(V)) // the optimiser's way to copy a constant of any kind
      return;
    if (!T->isPointerTy())
      return Found.add(Offset, Kind);
    Found.add(Offset, Memory::Pointer);
    if (!Pointers)
      return;
    std::unique_ptr<Memory> &Behind = Found.Behind[Offset];
    if (!Behind)
      Behind = std::make_unique<Memory>();
    if (isa<LoadInst>(V))
      return read(V, 0, *Behind, Calls, Pointers - 1);
    if (std::optional<Place> At = placeOf(&V, Layout);
        At && At->Memory->isUniform() && At->Memory->Leaves[0].Kind == 'f')
      Behind->add(Anywhere, At->Memory->Stride == 8   ? Memory::Double
                            : At->Memory->Stride == 4 ? Memory::Float
                                                      : Memory::Mixed);
  }

  const DataLayout &Layout;
  std::set<std::pair<Value *, Memory *>> Seen;
};

// What is done through all copies of a pointer that a local variable holds, which may be one of a caller's.
void readAgain(Value &Address, int64_t Offset, const DataLayout &Layout, unsigned Calls, unsigned Pointers,
               function_ref<void(std::unique_ptr<Memory>)> Take) {
  int64_t Further = 0;
  Value *Holder = GetPointerBaseWithConstantOffset(&Address, Further, Layout);
  Offset += Further;
  if (auto *Given = dyn_cast<Argument>(Holder); Given && Calls && Given->getParent()->hasLocalLinkage())
    for (User *U : Given->getParent()->users())
      if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == Given->getParent())
        readAgain(*Call->getArgOperand(Given->getArgNo()), Offset, Layout, Calls - 1, Pointers, Take);
  if (!isa<AllocaInst>(Holder))
    return;
  Memory Held;
  Reader(Layout).read(*Holder, 0, Held, DeepestCall, Pointers + 1);
  if (auto There = Held.Behind.find(Offset); There != Held.Behind.end())
    Take(std::move(There->second));
}

void hint(CallInst &Fork, Function &Started) {
  for (unsigned I = ForkCaptured; I < Fork.arg_size(); ++I) {
    Argument *Captured = Started.getArg(I - ForkCaptured + RegionCaptured);
    if (!Captured->getType()->isPointerTy())
      continue;
    Memory Found;
    Reader(Fork.getDataLayout()).read(*Captured, 0, Found, DeepestCall, DeepestPointer);
    Value *Handed = Fork.getArgOperand(I);
    std::unique_ptr<Memory> Whole; // what others do with it, too: a region may read the numbers of a struct alone
    if (auto *Load = dyn_cast<LoadInst>(Handed))
      readAgain(*Load->getPointerOperand(), 0, Load->getDataLayout(), 0, DeepestPointer,
                [&](std::unique_ptr<Memory> Held) { Whole = std::move(Held); });
    if (!Whole) {
      Whole = std::make_unique<Memory>();
      Reader(Fork.getDataLayout()).read(*Handed, 0, *Whole, DeepestCall, DeepestPointer);
    }
    std::string Text = "[-1]:Pointer";
    Found.describe("-1", Text, Whole.get());
    Fork.addParamAttr(I, Attribute::get(Fork.getContext(), "enzyme_type", "{" + Text + "}"));
  }
}

// What a parameter points to has no shadow where it holds integers. A local buffer of bytes could hold anything.
bool holdsIntegers(Value &Pointer, const DataLayout &Layout) {
  std::optional<Place> At = placeOf(&Pointer, Layout);
  return At && isa<Argument, LoadInst>(getUnderlyingObject(&Pointer)) &&
         all_of(At->Memory->Leaves, [](const Leaf &L) { return L.Kind == 'i'; });
}

// Where pointers to an object are stored, also those that one choice of several gives.
SmallVector<Value *> keptAt(Value &Object) {
  SmallVector<Value *> Places;
  SmallSetVector<Value *, 8> Copies;
  Copies.insert(&Object);
  for (unsigned I = 0; I < Copies.size(); ++I)
    for (User *U : Copies[I]->users())
      if (isa<PHINode, SelectInst>(U))
        Copies.insert(U);
      else if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == Copies[I])
        Places.push_back(Store->getPointerOperand());
  return Places;
}

// What is done with just these bytes, through pointers that lead from the same one: a member of a struct whose other
// members are of another kind.
void readThere(Value &Address, uint64_t Length, Memory &Found, const DataLayout &Layout) {
  int64_t First = 0;
  SmallVector<std::pair<Value *, int64_t>> Ways{{GetPointerBaseWithConstantOffset(&Address, First, Layout), 0}};
  while (!Ways.empty()) {
    auto [From, Offset] = Ways.pop_back_val();
    if (!From->hasUseList())
      continue;
    for (User *U : From->users()) {
      APInt Further(64, 0);
      if (auto *Step = dyn_cast<GetElementPtrInst>(U); Step && Step->accumulateConstantOffset(Layout, Further))
        Ways.push_back({Step, Offset + Further.getSExtValue()});
      if (auto *I = dyn_cast<Instruction>(U);
          I && Offset >= First && Offset < First + int64_t(Length) && getLoadStorePointerOperand(I) == From)
        Found.add(Offset - First, Reader::kindOf(*I, getLoadStoreType(I)));
    }
  }
}

// Whether it leads to the beginning of elements of so many bytes, as in a loop over all of newly allocated memory.
bool beginsElements(Value &Pointer, uint64_t Bytes, const DataLayout &Layout) {
  auto *Phi = dyn_cast<PHINode>(&Pointer);
  return isNoAliasCall(&Pointer) || (Phi && all_of(Phi->incoming_values(), [&](Value *From) {
                                       int64_t Offset = 0;
                                       Value *Base = GetPointerBaseWithConstantOffset(From, Offset, Layout);
                                       return Base == Phi ? uint64_t(Offset) % Bytes == 0
                                                          : isNoAliasCall(Base) && Offset == 0;
                                     }));
}

// What lies in these bytes of the struct in whose steps the elements of new memory are counted: a loop clears members
// that are used elsewhere.
void addMembers(Value &Address, uint64_t Length, Memory &Found, const DataLayout &Layout) {
  int64_t Begin = 0;
  Value *First = GetPointerBaseWithConstantOffset(&Address, Begin, Layout);
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(First, Objects, nullptr, 0);
  for (const Value *Object : Objects)
    for (const User *U : Object->hasUseList() ? to_vector(Object->users()) : SmallVector<const User *>()) {
      auto *Step = dyn_cast<GetElementPtrInst>(U);
      if (!Step || Step->getPointerOperand() != Object || Step->getNumIndices() != 1 ||
          !isa<StructType>(Step->getSourceElementType()))
        continue;
      std::shared_ptr<const adgen::Layout> Element = layoutOf(Step->getSourceElementType(), Layout);
      if (!Element || !beginsElements(*First, Element->Stride, Layout))
        continue;
      for (const Leaf &L : Element->Leaves)
        if (int64_t At = int64_t(L.Offset) - Begin; L.Kind != 'i' && At >= 0 && At < int64_t(Length))
          Found.add(At, L.Kind == 'p'  ? Memory::Pointer
                        : L.Bytes == 8 ? Memory::Double
                        : L.Bytes == 4 ? Memory::Float
                                       : Memory::Mixed);
    }
}

// Whether all that is done with it here is done at places that are known: it may be a struct whose other members are
// read elsewhere.
bool isReadByMembers(Value &Pointer, const DataLayout &Layout) {
  Memory Found;
  Reader(Layout).read(*getUnderlyingObject(&Pointer), 0, Found, DeepestCall, 0);
  return !Found.Kinds.count(Anywhere);
}

// Of a few bytes each, which may be those of a struct.
std::string integersIn(const MemIntrinsic &Whole) {
  auto *Length = dyn_cast<ConstantInt>(Whole.getLength());
  if (!Length || Length->getZExtValue() > LongestStruct)
    return "{[-1]:Pointer, [-1,-1]:Integer}";
  std::string Text = "{[-1]:Pointer";
  for (uint64_t Offset = 0; Offset < Length->getZExtValue(); ++Offset)
    Text += ", [-1," + std::to_string(Offset) + "]:Integer";
  return Text + "}";
}

// All bits set are -1 in integers of any size, and no number of floating point.
bool fillsWithOnes(const MemIntrinsic &Whole) {
  auto *Fill = dyn_cast<MemSetInst>(&Whole);
  auto *Value = Fill ? dyn_cast<ConstantInt>(Fill->getValue()) : nullptr;
  return Value && Value->isMinusOne();
}

// What the standard library's own function, whose name ends in the types of its pointers, copies: nothing may be known
// of the rows of a matrix, which lie behind pointers in memory.
std::optional<Memory::Kind> kindByName(const MemIntrinsic &Whole) {
  const DebugLoc &Where = Whole.getDebugLoc();
  const DISubprogram *Function = Where ? Where->getScope()->getSubprogram() : nullptr;
  auto [Name, Types] = (Function ? Function->getName() : "").split('<');
  if (!is_contained({"__copy_m", "__copy_move_b"}, Name) || !Types.consume_back(">"))
    return std::nullopt;
  SmallVector<StringRef> Each;
  Types.split(Each, ", ");
  for (StringRef &Type : Each) {
    Type.consume_front("const ");
    Type.consume_back(" *");
    Type.consume_back(" const");
  }
  if (!all_equal(Each) || !is_contained({"double", "float"}, Each.front()))
    return std::nullopt;
  return Each.front() == "double" ? Memory::Double : Memory::Float;
}

// Whether the type has integers in these bytes and nothing else. Bytes may be room for anything, and a union is
// declared as one of its members.
bool declaresIntegers(Type *T, uint64_t Begin, uint64_t End, const DataLayout &Layout) {
  if (T->isIntegerTy())
    return T->getIntegerBitWidth() >= 32;
  if (auto *Array = dyn_cast<ArrayType>(T))
    return declaresIntegers(Array->getElementType(), 0, Layout.getTypeAllocSize(Array->getElementType()), Layout);
  auto *Struct = dyn_cast<StructType>(T);
  if (!Struct || (Struct->hasName() && Struct->getName().starts_with("union.")))
    return false;
  const StructLayout *Members = Layout.getStructLayout(Struct);
  for (unsigned I = 0; I < Struct->getNumElements(); ++I) {
    const uint64_t At = Members->getElementOffset(I), Bytes = Layout.getTypeStoreSize(Struct->getElementType(I));
    const uint64_t From = std::max(At, Begin), To = std::min(At + Bytes, End);
    if (From < To && !declaresIntegers(Struct->getElementType(I), From - At, To - At, Layout))
      return false;
  }
  return true;
}

// Members that the class of a local variable, or of an array's elements, has for integers, as sizes and indices among
// an expression's: nothing else may be done with them here.
bool clearsDeclaredIntegers(MemIntrinsic &Whole, const DataLayout &Layout) {
  auto *Length = dyn_cast<ConstantInt>(Whole.getLength());
  int64_t Begin = 0;
  Value *First = GetPointerBaseWithConstantOffset(Whole.getRawDest(), Begin, Layout);
  auto *Local = dyn_cast<AllocaInst>(First);
  auto *Step = dyn_cast<GetElementPtrInst>(First);
  Type *Declared = Local && !Local->isArrayAllocation() ? Local->getAllocatedType()
                   : Step && Step->getNumIndices() == 1 ? Step->getSourceElementType()
                                                        : nullptr;
  if (!isa<MemSetInst>(Whole) || !Length || !isa_and_nonnull<StructType>(Declared) || Begin < 0)
    return false;
  const uint64_t End = Begin + Length->getZExtValue();
  Memory Found;
  readThere(*Whole.getRawDest(), Length->getZExtValue(), Found, Layout);
  return End <= Layout.getTypeStoreSize(Declared) && declaresIntegers(Declared, Begin, End, Layout) &&
         all_of(Found.Kinds,
                [](const auto &Entry) { return is_contained({Memory::Integer, Memory::Bits}, Entry.second); });
}

// Of numbers that a loop clears, clang has said so at each store (`!tbaa`), and the call that LLVM makes of it says it.
std::optional<StringRef> floatByTag(const MemIntrinsic &Whole) {
  const MDNode *Tag = isa<MemSetInst>(Whole) ? Whole.getMetadata(LLVMContext::MD_tbaa) : nullptr;
  const auto *Accessed = Tag && Tag->getNumOperands() > 1 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
  const auto *Name = Accessed && Accessed->getNumOperands() ? dyn_cast<MDString>(Accessed->getOperand(0)) : nullptr;
  if (!Name || isa<ConstantInt>(Whole.getLength()) || !is_contained({"double", "float"}, Name->getString()))
    return std::nullopt;
  return Name->getString();
}

void setType(MemIntrinsic &Whole, const Twine &Text) {
  Whole.addParamAttr(0, Attribute::get(Whole.getContext(), "enzyme_type", Text.str()));
}

// What a copy, or what is set to one value, holds: of what else is done with that memory.
class Copied {
public:
  explicit Copied(MemIntrinsic &Whole)
      : Whole(Whole), Layout(Whole.getDataLayout()), R(Layout), Length(dyn_cast<ConstantInt>(Whole.getLength())) {
    if (isa<MemTransferInst>(Whole))
      Pointers.push_back(1);
  }

  void hint() {
    if (fillsWithOnes(Whole) || clearsDeclaredIntegers(Whole, Layout))
      return setType(Whole, integersIn(Whole));
    if (std::optional<StringRef> Number = floatByTag(Whole))
      return setType(Whole, "{[-1]:Pointer, [-1,-1]:Float@" + *Number + "}");
    for (unsigned I : Pointers)
      readBehind(*getUnderlyingObject(Whole.getArgOperand(I)));
    if (all_of(Found.Kinds, [](const auto &Entry) { return Entry.second == Memory::Bits; }))
      if (std::optional<Memory::Kind> Named = kindByName(Whole))
        Found.Kinds = {{Anywhere, *Named}};
    OfAStruct = Length && (!Found.isUniform() || Found.isOnly(Memory::Mixed) ||
                           (Found.Escapes && !OfElements && isReadByMembers(*Whole.getArgOperand(0), Layout)));
    if (OfAStruct) {
      Found.Kinds.clear();
      for (unsigned I : Pointers)
        readThere(*Whole.getArgOperand(I), Length->getZExtValue(), Found, Layout);
      if (Found.Kinds.empty() && isa<MemSetInst>(Whole))
        addMembers(*Whole.getArgOperand(0), Length->getZExtValue(), Found, Layout);
    }
    StringRef Kind = kind();
    if (Kind.empty())
      return;
    const std::string Text = "{[-1]:Pointer" + places(Kind) + "}";
    for (unsigned I : Pointers)
      Whole.addParamAttr(I, Attribute::get(Whole.getContext(), "enzyme_type", Text));
  }

private:
  void readBehind(Value &Object) {
    R.read(Object, Anywhere, Found, DeepestCall, 0);
    if (auto *Load = dyn_cast<LoadInst>(&Object))
      readHeld(*Load->getPointerOperand(), [](const Memory &) { return true; });
    SmallVector<const Value *> Either; // what a choice of pointers stands for
    getUnderlyingObjects(&Object, Either, nullptr, 0);
    erase_if(Either, [](const Value *Each) { return !isNoAliasCall(Each); });
    for (const Value *Each : Either)
      R.read(const_cast<Value &>(*Each), Anywhere, Found, DeepestCall, 0);
    if (!Found.Kinds.empty())
      return;
    for (const Value *Each : Either) // a member of a class, whose elements are used through the class alone
      for (Value *Place : keptAt(const_cast<Value &>(*Each)))
        readHeld(*Place, [](const Memory &Held) { return Held.Kinds.count(Anywhere) != 0; });
    OfElements |= !Found.Kinds.empty();
  }

  // Of memory to which a pointer is kept there.
  void readHeld(Value &Place, function_ref<bool(const Memory &)> Tells) {
    readAgain(Place, 0, Layout, DeepestCall, 0, [&](std::unique_ptr<Memory> Held) {
      for (auto [_, Kind] : Held->Kinds)
        if (Tells(*Held))
          Found.add(Anywhere, Kind);
    });
  }

  // As Enzyme calls it; empty where it is not known.
  StringRef kind() const {
    if (Found.isFloating())
      return Found.isOnly(Memory::Double) ? "Float@double" : "Float@float";
    if (Found.isOnly(Memory::Pointer))
      return "Pointer";
    bool AreIntegers = (!OfAStruct && Found.isOnly(Memory::Integer)) ||
                       any_of(Pointers, [&](unsigned I) { return holdsIntegers(*Whole.getArgOperand(I), Layout); });
    return AreIntegers ? "Integer" : "";
  }

  std::string places(StringRef Kind) const {
    std::string Text;
    auto At = [&](int64_t Offset) { Text += (", [-1," + Twine(Offset) + "]:" + Kind).str(); };
    if (OfAStruct && Kind != "Integer")
      for (auto [Offset, _] : Found.Kinds) // what was not seen may be of another kind
        At(Offset);
    else if (Length && Length->getZExtValue() <= LongestStruct && Kind != "Integer")
      for (uint64_t Offset = 0; Offset < Length->getZExtValue(); Offset += Found.isOnly(Memory::Float) ? 4 : 8)
        At(Offset); // perhaps a few members of a struct
    else
      At(Anywhere);
    return Text;
  }

  MemIntrinsic &Whole;
  const DataLayout &Layout;
  Reader R;
  ConstantInt *Length;
  SmallVector<unsigned> Pointers{0};
  Memory Found;
  bool OfElements = false; // whose indices are not known, so that no struct has them for members
  bool OfAStruct = false;
};

} // namespace

ADGEN_DECLARE_PASS(AnnotateTypes);

PreservedAnalyses AnnotateTypes::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Fork : callsOf(M, ForkName))
    if (Function *Started = startedBy(*Fork))
      hint(*Fork, *Started);
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Whole = dyn_cast<MemIntrinsic>(&I))
        Copied(*Whole).hint();
      else
        nameNumber(I);
  return PreservedAnalyses::none();
}

} // namespace adgen
