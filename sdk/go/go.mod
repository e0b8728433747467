module bulkhead

go 1.19
