// A point explosion on a Lagrangian mesh of hexahedra: nodes carry positions and velocities, cells carry mass and energy. Every step
// computes corner forces from pressure and artificial viscosity, moves the nodes, does work on the cells, and finds the next
// step from the slowest cell.
#include <algorithm>
#include <cmath>
#include <vector>

struct Vector {
    double x, y, z;
};

static Vector operator-(const Vector &a, const Vector &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vector operator+(const Vector &a, const Vector &b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vector operator*(double s, const Vector &a) { return {s * a.x, s * a.y, s * a.z}; }
static Vector cross(const Vector &a, const Vector &b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static double dot(const Vector &a, const Vector &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Corners in the order (0,0,0) (1,0,0) (1,1,0) (0,1,0) and the same above; faces with outward normals.
static const int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

static Vector face_normal(const Vector *p, const int *face)
{
    return 0.5 * cross(p[face[2]] - p[face[0]], p[face[3]] - p[face[1]]);
}

static double volume(const Vector *p)
{
    double sum = 0;
    for (const auto &face : faces) {
        const Vector centre = 0.25 * (p[face[0]] + p[face[1]] + p[face[2]] + p[face[3]]);
        sum += dot(centre, face_normal(p, face));
    }
    return sum / 3;
}

// x, v: nodes; energy, mass: cells; corners: eight nodes a cell; around: the corners (8 * cell + corner) that meet in each
// node, -1 where there is none. Returns the time reached; x, v and energy are those at the end.
double hydro(double *x, double *v, double *energy, const double *mass, const int *corners, const int *around, int cells,
             int nodes, int steps, double first_step)
{
    std::vector<double> force(size_t(cells) * 24), rate(cells), weight(nodes);
    double step = first_step, time = 0;
#pragma omp parallel for
    for (int n = 0; n < nodes; n++) {
        double sum = 0;
        for (int k = 0; k < 8; k++)
            if (around[8 * n + k] >= 0)
                sum += mass[around[8 * n + k] / 8] / 8;
        weight[n] = sum;
    }
    for (int t = 0; t < steps; t++) {
        double next = 1e20;
#pragma omp parallel for reduction(min : next)
        for (int c = 0; c < cells; c++) {
            Vector p[8], u[8], f[8] = {};
            for (int k = 0; k < 8; k++) {
                const int n = corners[8 * c + k];
                p[k] = {x[3 * n], x[3 * n + 1], x[3 * n + 2]};
                u[k] = {v[3 * n], v[3 * n + 1], v[3 * n + 2]};
            }
            const double size = volume(p), density = mass[c] / size;
            const double pressure = 0.4 * density * energy[c] / mass[c];
            double growth = 0;
            for (const auto &face : faces) {
                const Vector normal = face_normal(p, face);
                const Vector speed = 0.25 * (u[face[0]] + u[face[1]] + u[face[2]] + u[face[3]]);
                growth += dot(normal, speed);
            }
            const double length = std::cbrt(size), sound = std::sqrt(1.4 * pressure / density + 1e-12);
            const double closing = growth / size * length;
            const double viscosity = closing < 0 ? density * (2 * closing * closing - 0.25 * sound * closing) : 0;
            double work = 0;
            for (const auto &face : faces) {
                const Vector push = 0.25 * (pressure + viscosity) * face_normal(p, face);
                for (int k : face)
                    f[k] = f[k] + push;
            }
            for (int k = 0; k < 8; k++) {
                work -= dot(f[k], u[k]);
                force[24 * size_t(c) + 3 * k] = f[k].x;
                force[24 * size_t(c) + 3 * k + 1] = f[k].y;
                force[24 * size_t(c) + 3 * k + 2] = f[k].z;
            }
            rate[c] = work;
            next = std::min(next, 0.3 * length / (sound + 2 * std::fabs(closing)));
        }
#pragma omp parallel for
        for (int n = 0; n < nodes; n++) {
            double f[3] = {0, 0, 0};
            for (int k = 0; k < 8; k++) {
                const int corner = around[8 * n + k];
                if (corner >= 0)
                    for (int d = 0; d < 3; d++)
                        f[d] += force[3 * size_t(corner) + d];
            }
            for (int d = 0; d < 3; d++) {
                v[3 * n + d] += step * f[d] / weight[n];
                x[3 * n + d] += step * v[3 * n + d];
            }
        }
#pragma omp parallel for
        for (int c = 0; c < cells; c++)
            energy[c] = std::max(energy[c] + step * rate[c], 1e-12);
        time += step;
        step = std::min(1.1 * step, next);
    }
    return time;
}
