#!/bin/busybox sh
# The first process of a machine: loads the modules that came along, in their order, and goes over to the
# disk. Whatever fails here is on the console, and the machine ends.
PATH=/bin
die() {
  echo "BH_KERNELS trouble $*"
  poweroff -f
}
/bin/busybox --install /bin
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev || die "no /proc"
for module in /modules/*; do
  [ ! -e "$module" ] || insmod "$module" || die "the module $module does not load"
done
tries=0
while [ ! -b /dev/vda ]; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || die "there is no disk"
  sleep 0.1
done
mount -t ext4 -o noatime,nobarrier /dev/vda /root || die "the disk cannot be mounted"
cp /items /setting /root/bulkhead-kernels/ || die "the items cannot be laid down"
mount -o move /dev /root/dev
umount /sys /proc
exec switch_root /root /bulkhead-kernels/busybox init
die "no init"
