// The energy of many poses of a ligand in a protein: steric repulsion, electrostatics and desolvation between all pairs of
// atoms, each cut off at a distance. A pose is three angles and a translation.
#include <algorithm>
#include <cmath>

struct Atom {
    float x, y, z;
    int kind;
};

struct Kind {
    float radius, hydrophobicity, charge, hardness;
};

static void rotation(const float *pose, float m[3][4])
{
    const float sx = std::sin(pose[0]), cx = std::cos(pose[0]);
    const float sy = std::sin(pose[1]), cy = std::cos(pose[1]);
    const float sz = std::sin(pose[2]), cz = std::cos(pose[2]);
    m[0][0] = cy * cz;
    m[0][1] = sx * sy * cz - cx * sz;
    m[0][2] = cx * sy * cz + sx * sz;
    m[1][0] = cy * sz;
    m[1][1] = sx * sy * sz + cx * cz;
    m[1][2] = cx * sy * sz - sx * cz;
    m[2][0] = -sy;
    m[2][1] = sx * cy;
    m[2][2] = cx * cy;
    for (int k = 0; k < 3; k++)
        m[k][3] = pose[3 + k];
}

static float pair_energy(float distance, const Kind &a, const Kind &b)
{
    const float contact = a.radius + b.radius, gap = distance - contact;
    const bool inside = gap < 0;
    float energy = inside ? (1 - distance / contact) * 2 * (a.hardness + b.hardness) : 0;
    const float reach = 4;
    if (gap < reach)
        energy += 45 * a.charge * b.charge * (inside ? 1 : 1 - gap / reach);
    const float dry = a.hydrophobicity * b.hydrophobicity;
    if (dry < 0 && gap < 2)
        energy += dry * (inside ? 1 : 1 - gap * 0.5f);
    return energy;
}

void docking(const Atom *protein, const Atom *ligand, const Kind *kinds, const float *poses, float *energies, int proteins,
             int ligands, int count)
{
#pragma omp parallel for schedule(static)
    for (int p = 0; p < count; p++) {
        float m[3][4];
        rotation(poses + 6 * p, m);
        float energy = 0;
        for (int l = 0; l < ligands; l++) {
            const Atom &a = ligand[l];
            const Kind &ka = kinds[a.kind];
            const float x = m[0][0] * a.x + m[0][1] * a.y + m[0][2] * a.z + m[0][3];
            const float y = m[1][0] * a.x + m[1][1] * a.y + m[1][2] * a.z + m[1][3];
            const float z = m[2][0] * a.x + m[2][1] * a.y + m[2][2] * a.z + m[2][3];
            for (int q = 0; q < proteins; q++) {
                const Atom &b = protein[q];
                const float dx = x - b.x, dy = y - b.y, dz = z - b.z;
                energy += pair_energy(std::sqrt(dx * dx + dy * dy + dz * dz + 1e-6f), ka, kinds[b.kind]);
            }
        }
        energies[p] = 0.5f * energy;
    }
}
