// Lists of structs (a depth with the number of what lies there) become a list for each member: what moves numbers then
// moves nothing else.
#include "Import/StructArrays.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

struct Member {
  uint64_t Offset;
  Type *Of;
};

void addMembers(Type *T, uint64_t Offset, const DataLayout &Layout, SmallVectorImpl<Member> &Found) {
  if (auto *Struct = dyn_cast<StructType>(T)) {
    const StructLayout &Offsets = *Layout.getStructLayout(Struct);
    for (auto [Index, Each] : enumerate(Struct->elements()))
      addMembers(Each, Offset + Offsets.getElementOffset(Index), Layout, Found);
  } else if (auto *Array = dyn_cast<ArrayType>(T)) {
    for (uint64_t I = 0; I < Array->getNumElements(); ++I)
      addMembers(Array->getElementType(), Offset + I * Layout.getTypeAllocSize(Array->getElementType()), Layout, Found);
  } else {
    Found.push_back({Offset, T});
  }
}

constexpr unsigned MostMembers = 16;

class StructArray {
public:
  explicit StructArray(AllocaInst &Local) : Local(Local), Layout(Local.getDataLayout()) {}

  bool canBeSplit() {
    auto *Array = dyn_cast<ArrayType>(Local.getAllocatedType());
    auto *Struct = Array ? dyn_cast<StructType>(Array->getElementType()) : nullptr;
    if (!Struct || !Local.isStaticAlloca() || Local.getAddressSpace())
      return false;
    Bytes = Layout.getTypeAllocSize(Struct);
    Count = Array->getNumElements();
    addMembers(Struct, 0, Layout, Members);
    auto IsNumber = [](const Member &M) { return M.Of->isFloatTy() || M.Of->isDoubleTy(); };
    return Members.size() <= MostMembers && any_of(Members, IsNumber) && !all_of(Members, IsNumber) &&
           all_of(Members, [](const Member &M) { return M.Of->isSingleValueType(); }) && follow(Local, {}) &&
           IsComputed;
  }

  void split() {
    IRBuilder<> B(&Local);
    for (const Member &Each : Members) {
      Arrays.push_back(B.CreateAlloca(ArrayType::get(Each.Of, Count), nullptr, Local.getName()));
      Arrays.back()->setAlignment(std::max(Layout.getABITypeAlign(Each.Of), Align(8)));
    }
    for (auto &[Access, At] : Accesses)
      replace(*Access, At);
    for (Instruction *Each : reverse(Dead))
      Each->eraseFromParent();
    Local.eraseFromParent();
  }

private:
  // So many bytes from the beginning, and so often an index that counts elements.
  struct Address {
    int64_t Offset = 0;
    SmallVector<std::pair<Value *, int64_t>, 2> Indices = {}; // with how many elements each counts
  };

  bool follow(Value &Pointer, const Address &At) {
    return all_of(Pointer.uses(), [&](Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      if (auto *Step = dyn_cast<GetElementPtrInst>(User)) {
        Address Next = At;
        Dead.push_back(Step);
        return add(*Step, Next) && follow(*Step, Next);
      }
      if (isa<LifetimeIntrinsic>(User)) {
        Accesses.push_back({User, At});
        return &Pointer == &Local;
      }
      return isAccess(*User, U, At);
    });
  }

  bool add(GetElementPtrInst &Step, Address &To) {
    unsigned Bits = Layout.getIndexTypeSizeInBits(Step.getType());
    SmallMapVector<Value *, APInt, 4> Indices;
    APInt Offset(Bits, 0);
    if (!Step.getType()->isPointerTy() || !cast<GEPOperator>(Step).collectOffset(Layout, Bits, Indices, Offset))
      return false;
    To.Offset += Offset.getSExtValue();
    for (auto &[Index, Scale] : Indices) {
      if (Scale.getSExtValue() % int64_t(Bytes))
        return false;
      To.Indices.push_back({Index, Scale.getSExtValue() / int64_t(Bytes)});
      IsComputed = true;
    }
    return true;
  }

  std::optional<unsigned> memberAt(const Address &At) const {
    int64_t Inside = At.Offset % int64_t(Bytes);
    for (auto [Index, Each] : enumerate(Members))
      if (Inside == int64_t(Each.Offset))
        return Index;
    return std::nullopt;
  }

  bool isAccess(Instruction &I, Use &U, const Address &At) {
    if (At.Offset < 0)
      return false;
    // A copy from one element to another one is met twice.
    bool IsKnown = any_of(Accesses, [&](auto &Each) { return Each.first == &I; });
    if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
      auto *Length = dyn_cast<ConstantInt>(Copy->getLength());
      if (Copy->isVolatile() || !Length || Length->getZExtValue() != Bytes || At.Offset % int64_t(Bytes))
        return false;
      (U.getOperandNo() == 0 ? To : From)[Copy] = At;
      if (!IsKnown)
        Accesses.push_back({&I, At});
      return true;
    }
    auto *Store = dyn_cast<StoreInst>(&I);
    bool Plain = Store ? Store->isSimple() && U.getOperandNo() == StoreInst::getPointerOperandIndex()
                       : isa<LoadInst>(I) && cast<LoadInst>(I).isSimple();
    std::optional<unsigned> Member = memberAt(At);
    if (!Plain || !Member || getLoadStoreType(&I) != Members[*Member].Of)
      return false;
    Accesses.push_back({&I, At});
    return true;
  }

  Value *addressOf(IRBuilder<> &B, const Address &At, unsigned Member) {
    Value *Index = B.getInt64(At.Offset / int64_t(Bytes));
    for (auto [Each, Times] : At.Indices) {
      Value *Step = B.CreateSExtOrTrunc(Each, B.getInt64Ty());
      if (Times != 1)
        Step = B.CreateMul(Step, B.getInt64(Times));
      Index = isa<Constant>(Index) && cast<Constant>(Index)->isNullValue() ? Step : B.CreateAdd(Index, Step);
    }
    return B.CreateInBoundsGEP(Members[Member].Of, Arrays[Member], Index);
  }

  void replace(Instruction &Access, const Address &At) {
    IRBuilder<> B(&Access);
    if (auto *Copy = dyn_cast<MemTransferInst>(&Access)) {
      replace(B, *Copy);
    } else if (auto *Lifetime = dyn_cast<LifetimeIntrinsic>(&Access)) {
      for (AllocaInst *Each : Arrays)
        Lifetime->getIntrinsicID() == Intrinsic::lifetime_start ? B.CreateLifetimeStart(Each)
                                                                : B.CreateLifetimeEnd(Each);
    } else {
      unsigned Index = isa<LoadInst>(Access) ? 0 : StoreInst::getPointerOperandIndex();
      Access.setOperand(Index, addressOf(B, At, *memberAt(At)));
      Access.setMetadata(LLVMContext::MD_tbaa, nullptr);
      return;
    }
    Access.eraseFromParent();
  }

  // Member by member, all of them read first.
  void replace(IRBuilder<> &B, MemTransferInst &Copy) {
    auto Place = [&](const DenseMap<Instruction *, Address> &Known, Value *Otherwise, MaybeAlign Given,
                     unsigned Index) {
      auto Found = Known.find(&Copy);
      uint64_t Offset = Members[Index].Offset;
      if (Found == Known.end())
        return std::pair(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Otherwise, Offset),
                         commonAlignment(Given.valueOrOne(), Offset));
      return std::pair(addressOf(B, Found->second, Index), Layout.getABITypeAlign(Members[Index].Of));
    };
    SmallVector<Value *> Read;
    for (unsigned I = 0; I < Members.size(); ++I) {
      auto [Pointer, Aligned] = Place(From, Copy.getRawSource(), Copy.getSourceAlign(), I);
      Read.push_back(B.CreateAlignedLoad(Members[I].Of, Pointer, Aligned));
    }
    for (unsigned I = 0; I < Members.size(); ++I) {
      auto [Pointer, Aligned] = Place(To, Copy.getRawDest(), Copy.getDestAlign(), I);
      B.CreateAlignedStore(Read[I], Pointer, Aligned);
    }
  }

  AllocaInst &Local;
  const DataLayout &Layout;
  uint64_t Bytes = 0, Count = 0;
  SmallVector<Member> Members;
  SmallVector<AllocaInst *> Arrays; // of each member
  SmallVector<std::pair<Instruction *, Address>> Accesses;
  DenseMap<Instruction *, Address> From, To; // of copies
  SmallVector<Instruction *> Dead;
  bool IsComputed = false;
};

} // namespace

bool splitStructArray(AllocaInst &Local) {
  StructArray Array(Local);
  bool Can = Array.canBeSplit();
  if (Can)
    Array.split();
  return Can;
}

} // namespace adgen
