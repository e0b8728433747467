#!/bin/sh
# What a system's services would do, then the tests. Started once by busybox's init, with the serial
# console as its output; a second serial line carries results to the host.
#
#   items: a line each, NAME|STARTER|SECONDS|COMMAND; in COMMAND, $OUT is a folder for what is to be
#   sent. Results: "BH_ITEM NAME CODE SECONDS", the folder as tar in base64, "BH_END".
cd / || exit 1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root
here=/bulkhead-kernels
user=1000
umask 022

mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/pts /dev/shm /dev/mqueue
mount -t devpts -o gid=5,mode=620,ptmxmode=666 pts /dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
mount -t mqueue mqueue /dev/mqueue
mount -t tmpfs -o mode=755,nosuid,nodev run /run
mount -t tmpfs -o mode=1777,nosuid,nodev tmp /tmp
mkdir -p /run/lock && chmod 1777 /run/lock
ln -sfn /proc/self/fd /dev/fd
$here/busybox ifconfig lo 127.0.0.1 up
hostname kernels
mount -t cgroup2 cgroup /sys/fs/cgroup
# As systemd makes them: what is mounted here is seen in copies of this tree.
mount --make-rshared /

# Groups as systemd lays them: one for root's services; one whose parent is the user's own.
tree=/sys/fs/cgroup
hand_on() { echo "+cpu +memory +pids" > "$1/cgroup.subtree_control" || echo "BH_KERNELS trouble groups in $1"; }
hand_on $tree
mkdir -p $tree/system.slice/tests.service $tree/user.slice/own/tests.scope
hand_on $tree/system.slice
hand_on $tree/user.slice
hand_on $tree/user.slice/own
for group in $tree/user.slice/own $tree/user.slice/own/tests.scope; do
  chown $user "$group" "$group"/cgroup.procs "$group"/cgroup.subtree_control "$group"/cgroup.threads
done

now() { cut -d. -f1 /proc/uptime; }
stty -F /dev/ttyS1 raw -echo
. $here/setting # deadline, in seconds since the start
echo "BH_KERNELS up $(uname -r) after $(now) s"

while IFS='|' read -r name starter limit command; do
  left=$((deadline - $(now)))
  if [ $left -lt 5 ]; then
    echo "BH_LEFT $name" > /dev/ttyS1
    continue
  fi
  [ "$limit" -le $left ] || limit=$left
  export OUT=/results/$name
  mkdir -p "$OUT" && chmod 777 /results "$OUT"
  begin=$(now)
  echo "BH_KERNELS begins $name"
  if [ "$starter" = root ]; then
    (echo 0 > $tree/system.slice/tests.service/cgroup.procs
      exec timeout -k 5 "$limit" sh -c "cd /root && $command") > "$OUT/log" 2>&1 < /dev/null
  else
    (echo 0 > $tree/user.slice/own/tests.scope/cgroup.procs
      exec env HOME=/home/tester USER=tester TMPDIR=/home/tester timeout -k 5 "$limit" setpriv --reuid $user \
        --regid $user --clear-groups sh -c "cd && $command") > "$OUT/log" 2>&1 < /dev/null
  fi
  code=$?
  {
    echo "BH_ITEM $name $code $(($(now) - begin))"
    tar -C "$OUT" -czf - . | base64
    echo "BH_END"
  } > /dev/ttyS1
done < $here/items
echo "BH_KERNELS done after $(now) s"
sync
$here/busybox poweroff -f
